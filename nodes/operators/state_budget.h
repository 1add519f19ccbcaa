#pragma once
// Tells when the state of an operator that is in memory needs more than its part of PipelineOptions::memory. Owned by
// the operator; one thread.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lp/base/text.h"
#include "nodes/dataflow/record_size.h"
#include "nodes/stream/stage_plan.h"
#include "nodes/stream/unusable.h"

namespace lp::dataflow {

// What an entry of a table needs beside its value.
inline std::size_t bytes_of_key(std::string_view key) {
  constexpr std::size_t kEntry = 64;
  return kEntry + key.size();
}

class StateBudget {
 public:
  // `what` the operator keeps, for the error. It may have a part of the memory.
  StateBudget(const StageSite& site, std::string what, double part = 1)
      : all_(static_cast<std::size_t>(site.options.memory)),
        memory_(static_cast<std::size_t>(static_cast<double>(all_) * part)),
        next_(memory_),
        what_(std::move(what)),
        stage_(site.stage) {}

  std::size_t memory() const { return memory_; }
  // The state has grown by so many bytes at most. measure() returns the size of the whole state; it is called when that
  // has grown by a large part of the memory. Returns whether that is too little.
  template <class F>
  bool grown(std::size_t bytes, const F& measure) {
    grown_ += bytes;
    return grown_ >= next_ && too_large(measure());
  }
  // The same, when a value has changed, perhaps by the bytes of the record, and `more` bytes were added.
  template <class Value, class T, class F>
  bool changed(const T& record, std::size_t more, const F& measure) {
    if constexpr (!std::is_trivially_copyable_v<Value>) more += record_size(record);
    return grown(more, measure);
  }
  // The state is empty again.
  void emptied() {
    grown_ = 0;
    next_ = memory_;
  }
  [[noreturn]] void fail() const { fail(what_, "give the stage more replicas"); }
  // The same for a part of the state, for which there is another way out.
  [[noreturn]] void fail(const std::string& what, const std::string& way_out) const {
    throw Unusable(what + " of the stage " + stage_ + " need more than PipelineOptions::memory, which is " +
                   memory_text(all_) + ": raise it, or " + way_out);
  }

 private:
  bool too_large(std::size_t bytes) {
    grown_ = 0;
    next_ = bytes < memory_ ? std::max(memory_ - bytes, memory_ / 8) : 0;
    return bytes > memory_;
  }

  const std::size_t all_;
  const std::size_t memory_;
  std::size_t next_;       // how much the state may grow until it is measured
  std::size_t grown_ = 0;  // since it was measured, at most
  const std::string what_;
  const std::string stage_;
};

}  // namespace lp::dataflow
