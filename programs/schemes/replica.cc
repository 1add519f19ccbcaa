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
using Head = std::array<std::uint64_t, kNumbers + kVectors>;  // the numbers, and the sizes of the vectors
constexpr std::size_t kHead = sizeof(Head) / sizeof(float);

}  // namespace

Array<float> packed(const Replica& replica) {
  const std::array<std::span<const float>, kVectors> parts{flat(replica.parameters), replica.optimizer.first,
                                                           replica.optimizer.second, flat(replica.global),
                                                           flat(replica.change)};
  Head head{replica.step, replica.batches, std::bit_cast<std::uint64_t>(replica.weight), replica.optimizer.steps};
  std::size_t size = kHead;
  for (std::size_t i = 0; i < kVectors; ++i) size += head[kNumbers + i] = parts[i].size();
  auto out = Array<float>::uninitialized(size);
  float* to = out.edit().data();
  std::memcpy(to, head.data(), sizeof head);
  to += kHead;
  for (const std::span<const float> part : parts) to = std::copy(part.begin(), part.end(), to);
  return out;
}

void unpack(const Array<float>& values, Replica& replica) {
  Head head{};
  if (values.size() >= kHead) std::memcpy(head.data(), values.data(), sizeof head);
  const auto own = static_cast<std::uint64_t>(replica.parameters.size());
  if (head[kNumbers] != own) {
    throw Error(ErrorKind::failed, "a committed state has " + std::to_string(head[kNumbers]) +
                                       " parameters, this worker's model " + std::to_string(own));
  }
  std::size_t size = kHead;
  bool fits = true;  // a vector has a value for each parameter, or none
  for (std::size_t i = kNumbers; i < head.size(); ++i) {
    fits = fits && (head[i] == 0 || head[i] == own);
    size += head[i];
  }
  if (!fits || values.size() != size) {
    throw Error(ErrorKind::failed,
                "a committed state of " + std::to_string(values.size()) + " values is not what its head says it is");
  }
  const float* from = values.data() + kHead;
  std::size_t part = kNumbers;
  const auto next = [&] {
    const std::span<const float> out(from, head[part++]);
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
  replica.step = head[0];
  replica.batches = head[1];
  replica.weight = std::bit_cast<double>(head[2]);
  replica.optimizer.steps = head[3];
  replica.parameters = vector();
  assign(replica.optimizer.first);
  assign(replica.optimizer.second);
  replica.global = vector();
  replica.change = vector();
}

}  // namespace lp
