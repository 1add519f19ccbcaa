#pragma once
// The records on which functions of a stage fail: such a record ends the run, or is left out and counted, up to a
// number of them. Owned by a stage; one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {

// What a replica of a stage has counted since the begin of the pipeline.
struct StageCounts {
  std::uint64_t skipped = 0;        // bad records
  std::uint64_t future_events = 0;  // see Flow::event_time
  std::uint64_t results = 0;        // records that its sinks have taken
};

namespace dataflow {

// A function has failed on a record, and the record is not left out.
class FunctionError : public Error {
 public:
  explicit FunctionError(const Error& error, std::string location = {})
      : Error(error), location_(std::move(location)) {}
  const std::string& location() const { return location_; }  // the location of the failure; empty: unknown

 private:
  std::string location_;
};

class BadRecords {
 public:
  // Returns the location of the record that the first operator has handed on last; empty: unknown.
  using Location = std::function<std::string()>;
  // Called for each record that is left out, with the reason. It throws when there are too many.
  using Skipped = std::function<void(const std::string& reason)>;

  // Lets records be left out. The results of a function for one record may take so many bytes until it is known that
  // the function does not fail.
  void allow(Location location, Skipped skipped, std::size_t memory);
  // When it is true, the first operator hands on one record at a time, so that its location is known.
  bool allowed() const { return skipped_ != nullptr; }
  std::size_t memory() const { return memory_; }

  // To be called in a handler of the exception that a function threw on a record. Returns when the record is to be left
  // out; else it throws FunctionError, or the exception itself when that is not about the record. `location` names what
  // is left out when it is not the record of the first operator.
  void skip(const std::string& location = {}) const;
  // The same, when it cannot be left out because some of what was made of it is gone.
  [[noreturn]] void fail_late() const;

 private:
  Location location_{};
  Skipped skipped_{};
  std::size_t memory_ = 0;
};

// "the record at byte 8 of a.csv cannot be used: std::invalid_argument: no number".
std::string bad_record_text(const std::string& location, const Error& error);

}  // namespace dataflow
}  // namespace lp
