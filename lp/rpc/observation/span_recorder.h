#pragma once
// Records the spans of one process while somebody collects them. Every thread writes into a ring of its own. While
// nothing is recorded, the root of a call reads one flag, and what it causes reads nothing. Owned by the LocalProcess;
// thread-safe.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lp/rpc/observation/span_record.h"

namespace lp {

class SpanRecorder {
 public:
  // With Sampling::bounded, a thread begins a span while it has credit. A record takes one from its credit, a second
  // adds so many. It begins with the most, so that the calls that it makes to many nodes at the same time are recorded
  // together.
  static constexpr int kRecordsPerSecond = 500;
  static constexpr int kMostCredit = 2000;
  static constexpr std::size_t kMostThreads = 4096;  // the records of further ones are lost

  SpanRecorder();
  ~SpanRecorder() = default;
  SpanRecorder(const SpanRecorder&) = delete;
  SpanRecorder& operator=(const SpanRecorder&) = delete;

  // Whether a root that begins now is to be recorded.
  bool samples() noexcept { return threshold_.load(std::memory_order_relaxed) != 0 && decides(); }
  // Whether a span that begins now below a recorded one is to be recorded.
  bool samples_below() noexcept { return !bounded_.load(std::memory_order_relaxed) || has_credit(); }
  // Whether records are kept.
  bool on() const noexcept { return on_.load(std::memory_order_relaxed); }
  // Keeps a record, if on().
  void record(const SpanRecord& record) noexcept;

  // Keeps records from now on, and samples roots like this. Spans below roots that were begun are recorded anyway.
  void start(const Sampling& sampling);
  // Returns records in the order in which each thread has made them, at most `most`, and removes them.
  RecordedSpans take(std::size_t most);
  // Drops all records, and keeps no more.
  void stop();

 private:
  // The records of one thread, and its credit.
  struct Part;
  // The part of the current thread, for the recorder that it has used last.
  struct Mine;

  bool decides() noexcept;
  bool has_credit() noexcept;
  std::shared_ptr<Part> mine() noexcept;  // null when there is no memory, or there are too many threads

  const std::uint64_t number_;                // no other recorder of this process has it
  std::atomic<std::uint64_t> threshold_ = 0;  // the share of roots, as a share of the largest number
  std::atomic<bool> bounded_ = false;
  std::atomic<bool> on_ = false;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Part>> parts_;  // their threads have weak references
  std::atomic<std::uint64_t> lost_ = 0;       // without a part
};

}  // namespace lp
