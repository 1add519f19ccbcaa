#include "lp/rpc/core/counters.h"

#include <cmath>
#include <memory>

#include "lp/rpc/core/method.h"

namespace lp {

Duration LatencyHistogram::quantile(double share) const {
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts) all += count;
  if (all == 0) return {};
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(all)));
  std::uint64_t below = 0;
  std::size_t bucket = 0;
  while (bucket + 1 < kSize && (below += counts[bucket]) < wanted) ++bucket;
  return Duration(std::int64_t{1} << bucket);
}

namespace rpc {

SizeHistogram CallCounters::Traffic::histogram() const {
  SizeHistogram result;
  for (std::size_t i = 0; i < sizes.size(); ++i) result.counts[i] = sizes[i].load();
  return result;
}

CallStatistics CallCounters::statistics() const {
  CallStatistics result{.method = std::string(info_.name)};
  result.calls = calls_.load();
  result.ended = ended_.load();
  result.errors = errors_.load();
  result.bytes_sent = sent_.bytes.load();
  result.bytes_received = received_.bytes.load();
  for (std::size_t i = 0; i < latency_.size(); ++i) result.latency.counts[i] = latency_[i].load();
  result.latency_sum = latency_sum_.load();
  result.sent_sizes = sent_.histogram();
  result.received_sizes = received_.histogram();
  return result;
}

EdgeCounters::~EdgeCounters() {
  for (CallCounters* one = first_.load(); one != nullptr;) {
    const std::unique_ptr<CallCounters> owned(one);
    one = owned->next_;
  }
}

CallCounters& EdgeCounters::add(const MethodInfo& info) {
  const std::lock_guard lock(mutex_);
  for (CallCounters* one = first_.load(); one != nullptr; one = one->next_) {
    if (&one->info_ == &info) return *one;  // another thread added it meanwhile
  }
  auto made = std::make_unique<CallCounters>(info);
  made->next_ = first_.load();
  first_.store(made.get(), std::memory_order_release);
  return *made.release();
}

std::vector<CallStatistics> EdgeCounters::statistics() const {
  std::vector<CallStatistics> result;
  for (const CallCounters* one = first_.load(std::memory_order_acquire); one != nullptr; one = one->next_) {
    result.push_back(one->statistics());
  }
  return result;
}

std::uint32_t EdgeCounters::answered() const noexcept {
  std::uint32_t newest = 0;
  for (const CallCounters* one = first_.load(std::memory_order_acquire); one != nullptr; one = one->next_) {
    newest = std::max(newest, one->answered_.load(std::memory_order_relaxed));
  }
  return newest;
}

}  // namespace rpc
}  // namespace lp
