#pragma once
// A state for each key, which a function changes with each record. Owned by a stage; one thread.

#include <span>
#include <string>
#include <utility>

#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/operators/by_key_bytes.h"
#include "nodes/operators/state_budget.h"
#include "nodes/stream/operator.h"

namespace lp::dataflow {

// f(key, state, record, collector).
template <class K, class T, class State, class U, class KeyOf, class F>
class KeyedState final : public Operator, public Consumer<T>, public Producer<U> {
 public:
  KeyedState(const StageSite& site, KeyOf key_of, F f)
      : bad_(site.bad), key_of_(std::move(key_of)), f_(std::move(f)), budget_(site, "the states of keys") {}

  void take(std::span<const T> records) override {
    out_.clear();
    for (const T& one : records) {
      const K key = key_of_(one);
      const KeyBytes<K> bytes(key);
      auto at = states_.find(bytes.view());
      const bool added = at == states_.end();
      if (added) at = states_.emplace(std::string(bytes.view()), State()).first;
      out_.make(bad_, [&] { change(key, at->second, one); });
      const std::size_t more = added ? bytes_of_key(bytes.view()) + sizeof(State) : 0;
      if (budget_.template changed<State>(one, more, [this] { return size(); })) budget_.fail();
    }
    out_.flush();
  }
  void mark(const Mark& mark) override { this->emit_mark(mark); }

  void save(OperatorState& out) const override {
    GroupedWriter groups;
    for (const auto& [key, state] : states_) {
      RecordWriter& bytes = groups.of(key);
      bytes.text(key);
      write_record(bytes, state);
    }
    groups.finish(out);
  }
  void load(const StatePiece& piece) override {
    for (RecordBytes in(piece.bytes); !in.empty();) {
      const std::string key(in.text());
      states_.insert_or_assign(key, read_record<State>(in));
    }
    if (budget_.grown(piece.bytes.size(), [this] { return size(); })) budget_.fail();
  }

 private:
  // A record that is left out changes nothing.
  void change(const K& key, State& state, const T& record) {
    if (bad_.allowed()) {
      State next = state;
      f_(key, next, record, out_);
      state = std::move(next);
    } else {
      try {
        f_(key, state, record, out_);
      } catch (...) {
        if (out_.handing_on()) throw;
        fail_at({.key = key_name(key)}, [&] { f_(key, state, record, out_); });
      }
    }
  }
  std::size_t size() const {
    std::size_t bytes = 0;
    for (const auto& [key, state] : states_) bytes += bytes_of_key(key) + record_size(state);
    return bytes;
  }

  const BadRecords& bad_;
  KeyOf key_of_;
  F f_;
  StateBudget budget_;
  ByKeyBytes<State> states_{};
  Collector<U> out_{*this};
};

}  // namespace lp::dataflow
