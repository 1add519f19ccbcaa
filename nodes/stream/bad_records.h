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

// Where a function has failed, as far as its operator knows.
struct FailureSite {
  std::string location{};  // "the records of the key \"a\""; empty: on a record that the first operator has handed on
  std::string key{};       // the key of that record: "the key \"a\""; empty: unknown
};

// A function has failed on a record, and the record is not left out. Make it in a handler of the exception.
class FunctionError : public Error {
 public:
  explicit FunctionError(const Error& error, FailureSite site = {});
  // It was called again: whether it has failed again. Outside of a handler.
  FunctionError(const FunctionError& error, FailureSite site, bool repeats)
      : Error(error), site_(std::move(site)), tried_(true), repeats_(repeats), may_pass_(error.may_pass_) {}

  // Whether the location is known without the record.
  bool has_location() const { return !site_.location.empty(); }
  // The location, when the first operator has handed on this record; both may be empty.
  std::string location(const std::string& record) const;
  bool tried_again() const { return tried_; }
  bool repeats() const { return repeats_; }
  bool may_pass() const { return may_pass_; }  // see dataflow::may_pass()

 private:
  FailureSite site_;
  bool tried_ = false;
  bool repeats_ = false;
  bool may_pass_;
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
  // out; else it throws FunctionError, or the exception itself when that is not about the record. The site
  // has the location of what is left out when that is not the record of the first operator.
  void skip(const FailureSite& site = {}) const;
  // The same, when it cannot be left out because some of what was made of it is gone.
  [[noreturn]] void fail_late() const;

 private:
  Location location_{};
  Skipped skipped_{};
  std::size_t memory_ = 0;
};

// In a handler of an exception of f(), whose failure does not depend on a record of the first operator alone: calls it
// once more, and throws FunctionError with the site, which f() may change, and whether it has failed again. It throws
// the exception itself when that is not about a record, or has a location already.
[[noreturn]] void fail_at(const FailureSite& site, const std::function<void()>& f);

// "the record at byte 8 of a.csv cannot be used: std::invalid_argument: no number".
std::string bad_record_text(const std::string& location, const Error& error);

}  // namespace dataflow
}  // namespace lp
