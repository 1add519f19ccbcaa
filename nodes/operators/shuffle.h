#pragma once
// The ends of a way between two stages: the last operator of the one, and the first of the other. Owned by a stage; one
// thread.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lp/base/text.h"
#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/frame_output.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

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
  ShuffleWriter(const StageSite& site, FrameOutput& output, Route route)
      : bad_(site.bad), output_(output), route_(std::move(route)) {}
  void take(std::span<const T> records) override {
    std::size_t skipped = 0;
    for (const T& one : records) {
      std::uint32_t receiver = 0;
      try {
        receiver = route_(one, output_.receivers());
      } catch (...) {
        bad_.skip();
        ++skipped;
        continue;
      }
      output_.write(receiver, one);
    }
    output_.count(records.size() - skipped);
    output_.sample(records.size(), [&](HeavyKeys& keys, std::size_t i) {
      try {
        route_.add_to(keys, records[i]);
      } catch (...) {  // it was skipped
      }
    });
  }
  void mark(const Mark& mark) override { output_.mark(mark); }

 private:
  const BadRecords& bad_;
  FrameOutput& output_;
  Route route_;
};

template <class T>
class ShuffleReader final : public Operator, public StageInput, public Producer<T> {
 public:
  explicit ShuffleReader(const StageSite& site) : one_by_one_(site.bad.allowed()) {}
  void receive(const Array<std::byte>& records) override {
    frame_ = records;
    if (one_by_one_) return again();
    RecordBytes in(records);
    while (!in.empty()) out_(read_record<T>(in));
    out_.flush();
  }
  void mark(const Mark& mark) override { this->emit_mark(mark); }
  void again() override {
    for (RecordBytes in(frame_); !in.empty();) {
      record_ = in.rest();
      const T one = read_record<T>(in);
      record_.remove_suffix(in.rest().size());
      this->emit({&one, 1});
    }
  }
  std::string location() const override { return "the record with the bytes " + quote(record_); }

 private:
  const bool one_by_one_;
  Array<std::byte> frame_{};   // the last one
  std::string_view record_{};  // in it
  Collector<T> out_{*this};
};

template <class T>
std::unique_ptr<Operator> make_reader(StageSite& site) {
  return std::make_unique<ShuffleReader<T>>(site);
}

}  // namespace lp::dataflow
