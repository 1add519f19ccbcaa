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
  std::uint32_t operator()(const T& record, FrameOutput& output) {
    const auto& key = key_of_(record);
    const KeyBytes<std::decay_t<decltype(key)>> bytes(key);
    if (output.samples()) [[unlikely]] {
      output.keys().add(key_hash(bytes.view()), [&] { return key_text(key); });
    }
    return replica_of_group(key_group(bytes.view()), output.receivers());
  }

 private:
  F key_of_;
};

// Receivers one after the other.
class InTurns {
 public:
  template <class T>
  std::uint32_t operator()(const T&, const FrameOutput& output) {
    return next_ = next_ + 1 < output.receivers() ? next_ + 1 : 0;
  }

 private:
  std::uint32_t next_ = 0;
};

template <class T, class Route>
class ShuffleWriter final : public Operator, public Consumer<T> {
 public:
  ShuffleWriter(FrameOutput& output, Route route) : output_(output), route_(std::move(route)) {}
  void take(std::span<const T> records) override {
    for (const T& one : records) output_.write(route_(one, output_), one);
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
