#include "lp/rpc/observation/span_ring.h"

#include <algorithm>
#include <cstring>

namespace lp {

void SpanRing::write(const SpanRecord& record) noexcept {
  const std::uint64_t number = written_.load(std::memory_order_relaxed);
  if (number - read_.load(std::memory_order_acquire) == kSize) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::memcpy(slot(number), &record, sizeof record);
  written_.store(number + 1, std::memory_order_release);
}

void SpanRing::read(std::vector<SpanRecord>& to, std::size_t most) {
  std::uint64_t number = read_.load(std::memory_order_relaxed);
  const std::uint64_t end = number + std::min<std::uint64_t>(written_.load(std::memory_order_acquire) - number, most);
  for (; number < end; ++number) std::memcpy(&to.emplace_back(), slot(number), sizeof(SpanRecord));
  read_.store(number, std::memory_order_release);
}

}  // namespace lp
