#pragma once
// The ends of a way between two stages: the last operator of the one, and the first of the other. Owned by a stage; one
// thread.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/frame_output.h"
#include "nodes/stream/operator.h"

namespace lp::dataflow {

// The receiver of a record, by its key.
template <class F>
class ByKey {
 public:
  explicit ByKey(F key_of) : key_of_(std::move(key_of)) {}
  template <class T>
  std::uint32_t operator()(const T& record, std::uint32_t receivers) {
    const auto& key = key_of_(record);
    return replica_of_group(key_group(KeyBytes<std::decay_t<decltype(key)>>(key).view()), receivers);
  }
  template <class T>
  void add_to(HeavyKeys& keys, const T& record) {
    const auto& key = key_of_(record);
    keys.add(key_hash(KeyBytes<std::decay_t<decltype(key)>>(key).view()), [&] { return key_text(key); });
  }

 private:
  F key_of_;
};

// Receivers one after the other.
class InTurns {
 public:
  template <class T>
  std::uint32_t operator()(const T&, std::uint32_t receivers) {
    return next_ = next_ + 1 < receivers ? next_ + 1 : 0;
  }
  template <class T>
  void add_to(HeavyKeys&, const T&) {}

 private:
  std::uint32_t next_ = 0;
};

template <class T, class Route>
class ShuffleWriter final : public Operator, public Consumer<T> {
 public:
  ShuffleWriter(FrameOutput& output, Route route) : output_(output), route_(std::move(route)) {}
  void take(std::span<const T> records) override {
    output_.count(records.size());
    output_.sample(records.size(), [&](HeavyKeys& keys, std::size_t i) { route_.add_to(keys, records[i]); });
    for (const T& one : records) output_.write(route_(one, output_.receivers()), one);
  }
  void mark(const Mark& mark) override { output_.mark(mark); }

 private:
  FrameOutput& output_;
  Route route_;
};

template <class T>
class ShuffleReader final : public Operator, public StageInput, public Producer<T> {
 public:
  void receive(const Array<std::byte>& records) override {
    RecordBytes in(records);
    while (!in.empty()) out_(read_record<T>(in));
    out_.flush();
  }
  void mark(const Mark& mark) override { this->emit_mark(mark); }

 private:
  Collector<T> out_{*this};
};

}  // namespace lp::dataflow
