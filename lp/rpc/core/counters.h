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

// The sizes of messages: counts of those of at most 64 bytes, 1 KiB, 16 KiB, ... 1 GiB, and of larger ones. A value.
struct SizeHistogram {
  static constexpr std::size_t kSize = 8;
  std::array<std::uint64_t, kSize> counts{};

  static constexpr std::uint64_t bound(std::size_t bucket) { return std::uint64_t{64} << (4 * bucket); }
  static constexpr std::size_t bucket(std::uint64_t bytes) {
    if (bytes <= bound(0)) return 0;
    return std::min((static_cast<std::size_t>(std::bit_width(bytes - 1)) - 3) / 4, kSize - 1);
  }
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
  std::uint64_t latency_sum = 0;     // nanoseconds of these
  SizeHistogram sent_sizes{};        // sizes of calls that left the process
  SizeHistogram received_sizes{};    // sizes of their replies
};

namespace rpc {

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
    latency_sum_.fetch_add(static_cast<std::uint64_t>(time.count()), std::memory_order_relaxed);
  }
  void sent(std::size_t bytes) noexcept { sent_.add(bytes); }
  void received(std::size_t bytes) noexcept { received_.add(bytes); }

  CallStatistics statistics() const;

 private:
  friend class EdgeCounters;
  // Messages in one direction.
  struct Traffic {
    std::atomic<std::uint64_t> bytes = 0;
    std::array<std::atomic<std::uint64_t>, SizeHistogram::kSize> sizes{};

    void add(std::size_t size) noexcept {
      bytes.fetch_add(size, std::memory_order_relaxed);
      sizes[SizeHistogram::bucket(size)].fetch_add(1, std::memory_order_relaxed);
    }
    SizeHistogram histogram() const;
  };

  const MethodInfo& info_;
  std::atomic<std::uint64_t> calls_ = 0;
  std::atomic<std::uint64_t> ended_ = 0;
  std::atomic<std::uint64_t> errors_ = 0;
  std::atomic<std::uint32_t> answered_ = 0;  // the incarnation of the callee that has answered last
  Traffic sent_;
  Traffic received_;
  std::array<std::atomic<std::uint64_t>, LatencyHistogram::kSize> latency_{};
  std::atomic<std::uint64_t> latency_sum_ = 0;
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

}  // namespace rpc
}  // namespace lp
