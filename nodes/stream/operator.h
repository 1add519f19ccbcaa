#pragma once
// The operators of a stage. They form a tree: each takes batches of records from the one before it and hands batches to
// those after it, by plain calls, so that a virtual call is paid once for a batch. Marks take the same way.
//
// Owned by a stage; one thread. Records are valid during the call that brings them.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/scheduler.h"
#include "nodes/dataflow/record_size.h"
#include "nodes/stream/bad_records.h"
#include "nodes/stream/frame.h"
#include "nodes/stream/operator_state.h"

namespace lp::dataflow {

inline constexpr std::size_t kBatch = 1024;  // records that an operator collects before it hands them on

class Operator {
 public:
  Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  virtual ~Operator() = default;

  // The cut of this number has everything that came so far, and nothing after it.
  virtual void cut(std::uint64_t) {}
  // The state after all that came so far, in pieces. It may follow cut().
  virtual void save(OperatorState&) const {}
  // The pipeline goes on from this cut; 0: it begins, nothing is restored, and no cut of this run is complete.
  virtual void start(std::uint64_t) {}
  // Takes a piece of what save() gave, in this or another replica. Called before any record comes.
  virtual void load(const StatePiece&) {}
  // The cut of this number, and so all before it, is complete, and will not be taken back.
  virtual void commit(std::uint64_t) {}
  // All stages have ended, and all results are visible.
  virtual void finish() {}
};

template <class T>
class Consumer {
 public:
  virtual void take(std::span<const T> records) = 0;
  virtual void mark(const Mark& mark) = 0;

 protected:
  ~Consumer() = default;
};

template <class T>
class Producer {
 public:
  void add(Consumer<T>& consumer) { consumers_.push_back(&consumer); }

 protected:
  ~Producer() = default;
  void emit(std::span<const T> records) {
    if (records.empty()) return;
    for (Consumer<T>* const one : consumers_) one->take(records);
  }
  void emit_mark(const Mark& mark) {
    for (Consumer<T>* const one : consumers_) one->mark(mark);
  }

 private:
  template <class>
  friend class Collector;
  std::vector<Consumer<T>*> consumers_{};
};

// Where functions put their results, one after the other; a batch is handed on when it is full.
template <class T>
class Collector {
 public:
  explicit Collector(Producer<T>& to) : to_(to) { batch_.reserve(kBatch); }
  void operator()(T record) {
    if (holding_ != nullptr) hold(record);
    batch_.push_back(std::move(record));
    if (batch_.size() >= kBatch && holding_ == nullptr) [[unlikely]] {
      flush();
    }
  }
  void flush() {
    handing_on_ = true;
    gone_ = holding_ != nullptr;
    to_.emit(batch_);
    handing_on_ = false;
    batch_.clear();
  }

  // Calls f(), which makes records of a record. When that throws, and the record is to be left out, so are those that
  // f() has made of it: where that is possible, they wait in the batch until f() has ended. An exception of an operator
  // behind this one passes. name() names the record that is left out; empty: the record of the first operator.
  template <class F, class Name>
  void make(const BadRecords& bad, const F& f, const Name& name) {
    const std::size_t before = batch_.size();
    const BadRecords* const outer = std::exchange(holding_, bad.allowed() ? &bad : nullptr);
    if (outer == nullptr) {
      held_ = 0;
      gone_ = false;
    }
    try {
      f();
    } catch (...) {
      holding_ = outer;
      if (handing_on_) throw;
      if (gone_) bad.fail_late();
      bad.skip({.location = name()});
      batch_.erase(batch_.begin() + static_cast<std::ptrdiff_t>(std::min(before, batch_.size())), batch_.end());
    }
    holding_ = outer;
    if (batch_.size() >= kBatch && holding_ == nullptr) flush();
  }
  template <class F>
  void make(const BadRecords& bad, const F& f) {
    make(bad, f, [] { return std::string(); });
  }
  // For a function that calls another one several times, inside of make(): leaves out what that one fails on, alone.
  template <class F, class Name>
  void attempt(const F& f, const Name& name) {
    if (holding_ == nullptr) return f();
    make(*holding_, f, name);
  }
  // Drops what an exception has left.
  void clear() {
    batch_.clear();
    holding_ = nullptr;
    handing_on_ = false;
  }
  // After an exception: whether an operator behind this one has thrown it.
  bool handing_on() const { return handing_on_; }
  // Hands on the records of the batch again, one by one. `at` is the number of the present one.
  void again(std::size_t& at) {
    for (at = 0; at < batch_.size(); ++at) to_.emit({&batch_[at], 1});
  }
  // After again(): the record of this number.
  const T& record(std::size_t at) const { return batch_.at(at); }

 private:
  // One more record is to wait. When they are too many, they are handed on, and nothing can be left out any more.
  void hold(const T& record) {
    held_ += record_size(record);
    if (held_ > holding_->memory()) flush();
  }

  Producer<T>& to_;
  std::vector<T> batch_{};
  const BadRecords* holding_ = nullptr;  // in make(), where a record may be left out
  std::size_t held_ = 0;                 // bytes that were made of the record
  bool gone_ = false;                    // some of them were handed on
  bool handing_on_ = false;
};

// Where an operator puts what it makes of many records. When an operator behind it fails on some of them, the error
// names the one, by name(record).
template <class T>
class Results {
 public:
  using Name = std::string (*)(const T&);
  Results(Producer<T>& to, Name name) : out_(to), name_(name) {}
  void operator()(T record) {
    try {
      out_(std::move(record));
    } catch (...) {
      fail();
    }
  }
  void flush() {
    try {
      out_.flush();
    } catch (...) {
      fail();
    }
  }

 private:
  [[noreturn]] void fail() {
    FailureSite site;
    fail_at(site, [&] {
      std::size_t at = 0;
      try {
        out_.again(at);
      } catch (...) {
        site.location = name_(out_.record(at));
        throw;
      }
    });
  }

  Collector<T> out_;
  const Name name_;
};

// Refers to records of a file; valid until the next ones are read.
struct FilePosition {
  std::string_view path{};  // empty: they are of no file
  std::uint64_t first = 0;  // the byte at which the first one begins
  std::uint64_t last = 0;   // the same of the last one
};

// The first operator of a stage, as far as it can tell which record a later operator fails on.
class StageHead {
 public:
  virtual ~StageHead() = default;
  // After an exception: hands on the records of the last batch again, one by one.
  virtual void again() {}
  // The record that was handed on last, alone: "the record at byte 8 of a.csv". Empty: unknown.
  virtual std::string location() const { return {}; }
  // In a file, the records that were handed on last, together.
  virtual FilePosition file_position() const noexcept { return {}; }
};

// The first operator of a stage that takes records from other stages.
class StageInput : public StageHead {
 public:
  virtual void receive(const Array<std::byte>& records) = 0;
  virtual void mark(const Mark& mark) = 0;
};

// The first operator of a stage that reads records from elsewhere.
class StageSource : public StageHead {
 public:
  enum class Step : std::uint8_t {
    read,  // there may be more at once
    idle,  // there may be more later
    over,  // there will be no more
  };
  // Reads a batch of records and hands it on.
  virtual Step step() = 0;
  // How long after Step::idle the next step is, unless StageSite::wake() is called before.
  virtual Duration idle_time() const { return std::chrono::milliseconds(100); }
  virtual void mark(const Mark& mark) = 0;
  // Whether it ends, and another one that begins at the beginning reads the same records.
  virtual bool repeats() const { return false; }
};

}  // namespace lp::dataflow
