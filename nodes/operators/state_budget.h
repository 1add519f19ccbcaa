#pragma once
// Keeps the state of an operator that is in memory within PipelineOptions::memory. Owned by the operator; one thread.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

// The bytes of a value, with all that it owns.
template <class V>
std::size_t bytes_of(const V& value) {
  if constexpr (std::is_trivially_copyable_v<V>) {
    return sizeof(V);
  } else {
    thread_local RecordWriter writer;
    writer.clear();
    write_record(writer, value);
    return sizeof(V) + writer.size();
  }
}
// What an entry of a table needs beside its value.
inline std::size_t bytes_of_key(std::string_view key) {
  constexpr std::size_t kEntry = 64;
  return kEntry + key.size();
}

class StateBudget {
 public:
  // `what` the operator keeps, for the error.
  StateBudget(const StageSite& site, std::string what)
      : memory_(static_cast<std::size_t>(site.options.memory)),
        next_(memory_),
        what_(std::move(what) + " of the stage " + site.stage) {}

  // The state has grown by so many bytes at most. measure() returns the size of the whole state; it is called when that
  // has grown by a large part of the memory. Error::failed when there is not enough.
  template <class F>
  void grown(std::size_t bytes, const F& measure) {
    grown_ += bytes;
    if (grown_ >= next_) [[unlikely]] {
      check(measure());
    }
  }
  // The same, when a value has changed, perhaps by the bytes of the record, and `more` bytes were added.
  template <class Value, class T, class F>
  void changed(const T& record, std::size_t more, const F& measure) {
    if constexpr (!std::is_trivially_copyable_v<Value>) more += bytes_of(record);
    grown(more, measure);
  }

 private:
  void check(std::size_t bytes) {
    if (bytes > memory_) {
      throw Error(ErrorKind::failed, what_ + " need more than PipelineOptions::memory, which is " +
                                         memory_text(memory_) + ": raise it, or give the stage more replicas");
    }
    grown_ = 0;
    next_ = std::max(memory_ - bytes, memory_ / 8);
  }

  const std::size_t memory_;
  std::size_t next_;       // how much the state may grow until it is measured
  std::size_t grown_ = 0;  // since it was measured, at most
  const std::string what_;
};

}  // namespace lp::dataflow
