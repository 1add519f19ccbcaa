#pragma once
// Sorts a flow that ends: every replica that has records writes sorted runs, and the replicas of the next stage merge a
// range of the keys each. The records themselves go from one to the other through the runs.
//
// Owned by a stage; one thread.

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/operators/at_end.h"
#include "nodes/operators/sorted_ranges.h"
#include "nodes/stream/frame_output.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

// A key and its record as bytes that compare as the keys do, and, when these are equal, in an order that depends on the
// records alone. In a text, a zero is followed by 0xFF, so that the two zeros behind it are its end.
template <Key K>
void write_sort_key(RecordWriter& out, const K& key) {
  const KeyBytes<K> all(key);
  std::string_view rest = all.view();
  if constexpr (TextKey<K>) {
    for (std::size_t zero = rest.find('\0'); zero != rest.npos; zero = rest.find('\0')) {
      out.bytes(rest.data(), zero + 1);
      out.number('\xff');
      rest.remove_prefix(zero + 1);
    }
    out.bytes(rest.data(), rest.size());
    out.number(std::uint16_t{0});
  } else {
    out.bytes(rest.data(), rest.size());
  }
}
// The bytes of the record.
template <Key K>
std::string_view behind_sort_key(std::string_view bytes) {
  if constexpr (TextKey<K>) {
    std::size_t zero = bytes.find('\0');
    while (bytes.at(zero + 1) != '\0') zero = bytes.find('\0', zero + 2);
    return bytes.substr(zero + 2);
  } else {
    return bytes.substr(sizeof(std::uint64_t));
  }
}

// key_of(record). Hands the runs on at the end.
template <class K, class T, class KeyOf>
class SortIntoRuns final : public AtEnd<T, RangedRun, SortedRanges> {
 public:
  SortIntoRuns(StageSite& site, KeyOf key_of)
      : AtEnd<T, RangedRun, SortedRanges>(site), bad_(site.bad), key_of_(std::move(key_of)) {}

  void take(std::span<const T> records) override {
    for (const T& one : records) {
      bytes_.clear();
      try {
        write_sort_key<K>(bytes_, key_of_(one));
      } catch (...) {
        bad_.skip();
        continue;
      }
      write_record(bytes_, one);
      this->state_.add({bytes_.view(), {}});
    }
  }

 private:
  void make_results() override { this->emit(this->state_.take()); }

  const BadRecords& bad_;
  KeyOf key_of_;
  RecordWriter bytes_{};
};

// Hands the runs to all receivers.
class GiveRuns final : public Operator, public Consumer<RangedRun> {
 public:
  explicit GiveRuns(FrameOutput& output) : output_(output) {}
  void take(std::span<const RangedRun> runs) override {
    for (const RangedRun& one : runs) {
      for (std::uint32_t receiver = 0; receiver < output_.receivers(); ++receiver) output_.write(receiver, one);
      for (const Segment& block : one.run.segments) output_.count(block.pairs, block.bytes);
    }
  }
  void mark(const Mark& mark) override { output_.mark(mark); }

 private:
  FrameOutput& output_;
};

// The records of the runs, in the order of their keys.
template <class K, class T>
class MergeRange final : public AtEnd<RangedRun, T, GivenRanges> {
 public:
  explicit MergeRange(StageSite& site) : AtEnd<RangedRun, T, GivenRanges>(site), site_(site) {}

  void take(std::span<const RangedRun> runs) override {
    for (const RangedRun& one : runs) this->state_.add(one);
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{1} << 16;  // so many are handed on together

  void make_results() override {
    const std::vector<RangedRun> runs = this->state_.take();
    const KeyRange range = range_of(runs, site_.replica, site_.replicas);
    std::vector<MergeInput> blocks;
    for (const RangedRun& one : runs) add_blocks(one, range, blocks);
    Merge merge = merge_within(std::move(blocks), static_cast<std::size_t>(site_.options.memory),
                               [this] { return site_.new_file(); });
    for (Pair pair; merge.next(pair);) {
      if (pair.key < range.begin) continue;
      if (!range.last && pair.key >= range.end) break;
      const std::string_view record = behind_sort_key<K>(pair.key);
      bytes_.bytes(record.data(), record.size());
      if (bytes_.size() >= kBytes) hand_on();
    }
    hand_on();
  }
  void hand_on() {
    for (RecordBytes in(bytes_.view()); !in.empty();) out_(read_record<T>(in));
    out_.flush();
    bytes_.clear();
  }

  StageSite& site_;
  RecordWriter bytes_{};
  Collector<T> out_{*this};
};

}  // namespace lp::dataflow
