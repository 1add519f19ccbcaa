#pragma once
// Counts the calls along an edge, their ends, and their times. The caller counts for each method, which costs a few
// nanoseconds there. Owned by the Edge; thread-safe.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp {

// The times of calls: counts of those under 1 ns, 2 ns, 4 ns, ... A value.
struct LatencyHistogram {
  static constexpr std::size_t kSize = 48;
  std::array<std::uint64_t, kSize> counts{};

  // Returns a power of two that this share of the times (0 to 1) stayed below; 0 when there are none.
  Duration quantile(double share) const;
};

// The totals of one caller's calls of one method. A value.
struct CallStatistics {
  std::string caller{};  // name of the node
  std::string callee{};
  std::string method{};
  std::uint64_t calls = 0;           // calls that began
  std::uint64_t ended = 0;           // calls of these that ended; the rest is on its way
  std::uint64_t errors = 0;          // ended calls that failed
  std::uint64_t bytes_sent = 0;      // bytes of calls that left the process
  std::uint64_t bytes_received = 0;  // bytes of their replies
  LatencyHistogram latency{};        // times of one call in CallCounters::kTimed
};

namespace internal {

struct MethodInfo;

class CallCounters {
 public:
  static constexpr std::uint64_t kTimed = 8;

  explicit CallCounters(const MethodInfo& info) : info_(info) {}
  CallCounters(const CallCounters&) = delete;
  CallCounters& operator=(const CallCounters&) = delete;

  // Counts the begin of a call. Returns true when its time is to be taken.
  bool begin() noexcept { return calls_.fetch_add(1, std::memory_order_relaxed) % kTimed == 0; }
  // Counts the end of a call. `callee` is the incarnation that has answered it; 0: none.
  void end(bool failed, std::uint32_t callee) noexcept {
    ended_.fetch_add(1, std::memory_order_relaxed);
    if (failed) {
      errors_.fetch_add(1, std::memory_order_relaxed);
    } else if (callee != 0) {
      answered_.store(callee, std::memory_order_relaxed);
    }
  }
  void took(Duration time) noexcept {
    const auto bucket = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(time.count())));
    latency_[std::min(bucket, latency_.size() - 1)].fetch_add(1, std::memory_order_relaxed);
  }
  void sent(std::size_t bytes) noexcept { bytes_sent_.fetch_add(bytes, std::memory_order_relaxed); }
  void received(std::size_t bytes) noexcept { bytes_received_.fetch_add(bytes, std::memory_order_relaxed); }

  CallStatistics statistics() const;

 private:
  friend class EdgeCounters;
  const MethodInfo& info_;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::uint64_t> ended_ = 0;
  std::atomic<std::uint64_t> errors_ = 0;
  std::atomic<std::uint32_t> answered_ = 0;  // the incarnation of the callee that has answered last
  std::atomic<std::uint64_t> bytes_sent_ = 0;
  std::atomic<std::uint64_t> bytes_received_ = 0;
  std::array<std::atomic<std::uint64_t>, LatencyHistogram::kSize> latency_{};
  CallCounters* next_ = nullptr;
};

// The counters of one edge: a list that only grows, with the methods that were called.
class EdgeCounters {
 public:
  EdgeCounters() = default;
  ~EdgeCounters();
  EdgeCounters(const EdgeCounters&) = delete;
  EdgeCounters& operator=(const EdgeCounters&) = delete;

  CallCounters& of(const MethodInfo& info) {
    for (CallCounters* one = first_.load(std::memory_order_acquire); one != nullptr; one = one->next_) {
      if (&one->info_ == &info) return *one;
    }
    return add(info);
  }
  // Returns the statistics without the names of the nodes.
  std::vector<CallStatistics> statistics() const;
  // Returns the newest incarnation of the callee that has answered a call; 0: none has.
  std::uint32_t answered() const noexcept;

 private:
  CallCounters& add(const MethodInfo& info);

  std::atomic<CallCounters*> first_ = nullptr;
  std::mutex mutex_;
};

// One call's entry in the counters, from its begin to its end. Part of the call.
class CallTimer {
 public:
  explicit CallTimer(CallCounters* counters) : counters_(counters) {
    if (counters_ != nullptr && counters_->begin()) begin_ = now();
  }
  void sent(std::size_t bytes) noexcept {
    if (counters_ != nullptr) counters_->sent(bytes);
  }
  void received(std::size_t bytes) noexcept {
    if (counters_ != nullptr) counters_->received(bytes);
  }
  void end(bool failed, std::uint32_t callee) noexcept {
    if (counters_ == nullptr) return;
    counters_->end(failed, callee);
    if (begin_ != Time()) counters_->took(now() - begin_);
  }

 private:
  CallCounters* counters_;
  Time begin_{};
};

}  // namespace internal
}  // namespace lp
