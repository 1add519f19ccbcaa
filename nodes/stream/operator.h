#pragma once
// The operators of a stage. They form a tree: each takes batches of records from the one before it and hands batches to
// those after it, by plain calls, so that a virtual call is paid once for a batch. Marks take the same way.
//
// Owned by a stage; one thread. Records are valid during the call that brings them.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nodes/stream/frame.h"
#include "nodes/stream/state.h"

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
  // Takes a piece of what save() gave, in this or another replica. Called before any record comes.
  virtual void load(const StatePiece&) {}
  // The cut of this number, and so all before it, is complete, and will not be taken back.
  virtual void commit(std::uint64_t) {}
};

template <class T>
class Consumer {
 public:
  virtual ~Consumer() = default;
  virtual void take(std::span<const T> records) = 0;
  virtual void mark(const Mark& mark) = 0;
};

template <class T>
class Producer {
 public:
  virtual ~Producer() = default;
  void add(Consumer<T>& consumer) { consumers_.push_back(&consumer); }

 protected:
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
    batch_.push_back(std::move(record));
    if (batch_.size() == kBatch) [[unlikely]] {
      flush();
    }
  }
  void flush() {
    to_.emit(batch_);
    batch_.clear();
  }

 private:
  Producer<T>& to_;
  std::vector<T> batch_{};
};

// The first operator of a stage that takes records from other stages.
class StageInput {
 public:
  virtual ~StageInput() = default;
  virtual void receive(const Array<std::byte>& records) = 0;
  virtual void mark(const Mark& mark) = 0;
};

// The first operator of a stage that reads records from elsewhere.
class StageSource {
 public:
  enum class Step : std::uint8_t {
    read,  // there may be more at once
    idle,  // there may be more later
    over,  // there will be no more
  };
  virtual ~StageSource() = default;
  // Reads a batch of records and hands it on.
  virtual Step step() = 0;
  virtual void mark(const Mark& mark) = 0;
};

}  // namespace lp::dataflow
