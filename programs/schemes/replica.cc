#include "programs/schemes/replica.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

constexpr std::size_t kNumbers = 4;
constexpr std::size_t kVectors = 5;
using Tail = std::array<std::uint64_t, kNumbers + kVectors>;  // the numbers, and the sizes of the vectors
constexpr std::size_t kTail = sizeof(Tail) / sizeof(float);

}  // namespace

Array<float> packed(const Replica& replica) {
  const std::array<std::span<const float>, kVectors> parts{flat(replica.global), flat(replica.parameters),
                                                           replica.optimizer.first, replica.optimizer.second,
                                                           flat(replica.change)};
  Tail tail{replica.step, replica.batches, std::bit_cast<std::uint64_t>(replica.weight), replica.optimizer.steps};
  std::size_t size = kTail;
  for (std::size_t i = 0; i < kVectors; ++i) size += tail[kNumbers + i] = parts[i].size();
  auto out = Array<float>::uninitialized(size);
  float* to = out.edit().data();
  for (const std::span<const float> part : parts) to = std::copy(part.begin(), part.end(), to);
  std::memcpy(to, tail.data(), sizeof tail);
  return out;
}

void unpack(const Array<float>& values, Replica& replica) {
  Tail tail{};
  if (values.size() >= kTail) std::memcpy(tail.data(), values.data() + values.size() - kTail, sizeof tail);
  const auto own = static_cast<std::uint64_t>(replica.parameters.size());
  if (tail[kNumbers + 1] != own) {
    throw Error(ErrorKind::failed, "a committed state has " + std::to_string(tail[kNumbers + 1]) +
                                       " parameters, but this worker's model has " + std::to_string(own));
  }
  std::size_t size = kTail;
  bool fits = true;  // a vector has a value for each parameter, or none
  for (std::size_t i = kNumbers; i < tail.size(); ++i) {
    fits = fits && (tail[i] == 0 || tail[i] == own);
    size += tail[i];
  }
  if (!fits || values.size() != size) {
    throw Error(ErrorKind::failed,
                "a committed state of " + std::to_string(values.size()) + " values does not fit its own description");
  }
  const float* from = values.data();
  std::size_t part = kNumbers;
  const auto next = [&] {
    const std::span<const float> out(from, tail[part++]);
    from += out.size();
    return out;
  };
  const auto vector = [&] {
    const std::span<const float> out = next();
    return Eigen::VectorXf(Eigen::Map<const Eigen::VectorXf>(out.data(), static_cast<Eigen::Index>(out.size())));
  };
  const auto assign = [&](std::vector<float>& to) {
    const std::span<const float> out = next();
    to.assign(out.begin(), out.end());
  };
  replica.step = tail[0];
  replica.batches = tail[1];
  replica.weight = std::bit_cast<double>(tail[2]);
  replica.optimizer.steps = tail[3];
  replica.global = vector();
  replica.parameters = vector();
  assign(replica.optimizer.first);
  assign(replica.optimizer.second);
  replica.change = vector();
}

}  // namespace lp
