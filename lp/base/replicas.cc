#include "lp/base/replicas.h"

#include <charconv>
#include <system_error>

namespace lp {
namespace {

std::optional<int> read_count(std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool read = error == std::errc{} && end == text.data() + text.size() && count >= 1;
  return read && text.front() != '0' ? std::optional(count) : std::nullopt;
}

}  // namespace

std::string to_string(const Replicas& replicas) {
  const std::string most = std::to_string(replicas.most);
  return replicas.elastic() ? std::to_string(replicas.least) + ".." + most : most;
}

std::optional<Replicas> read_replicas(std::string_view text) {
  constexpr std::string_view kBetween = "..";
  const std::size_t at = text.find(kBetween);
  const std::optional<int> least = read_count(text.substr(0, at));
  const std::optional<int> most = at == std::string_view::npos ? least : read_count(text.substr(at + kBetween.size()));
  if (!least.has_value() || !most.has_value() || *least > *most) return std::nullopt;
  return Replicas(*least, *most);
}

}  // namespace lp
