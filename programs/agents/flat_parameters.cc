#include "programs/agents/flat_parameters.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "lp/base/error.h"
#include "lp/base/hash.h"

namespace lp {

std::span<float> span_of(Eigen::VectorXf& values) { return {values.data(), static_cast<std::size_t>(values.size())}; }

Array<float> array_of(const Eigen::Ref<const Eigen::VectorXf>& values) {
  return Array<float>::copy_of({values.data(), static_cast<std::size_t>(values.size())});
}

void read_parameters(const Array<float>& array, Eigen::VectorXf& values) {
  if (array.size() != static_cast<std::size_t>(values.size())) {
    throw Error(ErrorKind::failed, "networks of " + std::to_string(values.size()) + " parameters were given " +
                                       std::to_string(array.size()) + ": do they belong to other networks?");
  }
  std::copy(array.begin(), array.end(), values.data());
}

std::string hash_of(const Array<float>& parameters) {
  const std::span<const std::byte> bytes = parameters.buffer().bytes();
  const std::uint64_t hash = fnv1a({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace lp
