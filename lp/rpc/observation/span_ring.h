#pragma once
// The span records of one thread, until they are collected: a ring with one writer and one reader, who never wait for
// one another. When it is full, records are lost, and counted. Owned by the SpanRecorder; its thread writes, and one
// thread at a time reads.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lp/rpc/observation/span_record.h"

namespace lp {

class SpanRing {
 public:
  static constexpr std::size_t kSize = 4096;

  // Throws std::bad_alloc. The system gives the memory when it is written for the first time.
  SpanRing() : slots_(std::make_unique_for_overwrite<std::byte[]>(kSize * sizeof(SpanRecord))) {}

  void write(const SpanRecord& record) noexcept;

  // Moves the oldest records to `to`, at most `most`.
  void read(std::vector<SpanRecord>& to, std::size_t most);
  bool empty() const noexcept { return read_.load() == written_.load(); }
  // Returns how many records were lost since the last time.
  std::uint64_t take_lost() noexcept { return lost_.exchange(0, std::memory_order_relaxed); }

 private:
  std::byte* slot(std::uint64_t number) const { return slots_.get() + number % kSize * sizeof(SpanRecord); }

  const std::unique_ptr<std::byte[]> slots_;
  // On lines of their own: the writer and the reader do not take them from one another.
  alignas(64) std::atomic<std::uint64_t> written_ = 0;  // the number of records so far
  std::atomic<std::uint64_t> lost_ = 0;
  alignas(64) std::atomic<std::uint64_t> read_ = 0;
};

}  // namespace lp
