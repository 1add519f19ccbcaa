#include "lp/wire/shape.h"

#include <algorithm>

namespace lp::wire {

void Describer::number(bool boolean, bool floating, bool is_signed, std::size_t size) {
  if (boolean) {
    text_ += "bool";
  } else {
    text_ += floating ? 'f' : is_signed ? 'i' : 'u';
    text_ += std::to_string(8 * size);
  }
}

void Describer::name(std::string_view kind, std::string_view pretty) {
  (text_ += kind) += internal::pretty_argument(pretty);
}

bool Describer::open(const void* type) {
  if (std::find(known_.begin(), known_.end(), type) != known_.end()) return false;
  known_.push_back(type);
  return true;
}

void Describer::close(const void* type) { std::erase(known_, type); }

}  // namespace lp::wire
