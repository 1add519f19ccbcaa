#pragma once
// Records that are sorted by key once, and joined with other flows several times: each join reads them where they are.
//
//     pages ──▶ [sorted run] ┬─▶ round1       only the name of a run goes from stage to stage
//                            └─▶ round2
//
// Owned by a stage; one thread. Runs are in PipelineOptions::scratch, and belong to the pipeline.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "nodes/dataflow/groups.h"
#include "nodes/dataflow/key_codec.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/operators/at_end.h"
#include "nodes/operators/group.h"
#include "nodes/operators/shuffle.h"
#include "nodes/stream/frame_output.h"
#include "nodes/stream/operator.h"
#include "nodes/stream/record_bag.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

// The records of this replica's keys, in one run.
template <class K, class T, class KeyOf>
class CacheByKey final : public AtEnd<T, SortedRun> {
 public:
  CacheByKey(StageSite& site, KeyOf key_of) : AtEnd<T, SortedRun>(site, std::nullopt), key_of_(std::move(key_of)) {}
  void take(std::span<const T> records) override {
    for (const T& one : records) writer_.add<K>(this->state_, key_of_(one), one, Side::left);
  }

 private:
  void make_results() override {
    const SortedRun run = this->state_.merged();
    this->emit({&run, 1});
  }

  KeyOf key_of_;
  SideWriter writer_{};
};

// Sends records to the owners of their keys, and a run of this replica's keys to those that own some of them.
template <class B, class KeyOf>
class CacheWriter final : public Operator, public Consumer<Either<SortedRun, B>> {
 public:
  using Record = Either<SortedRun, B>;
  CacheWriter(const StageSite& site, FrameOutput& output, KeyOf key_of)
      : bad_(site.bad), output_(output), by_key_([key_of](const Record& one) { return key_of(*one.right); }) {
    for (std::uint32_t group = 0; group < kKeyGroups; ++group) {
      const std::uint32_t owner = replica_of_group(group, output.receivers());
      if (site.owns(group) && (owners_.empty() || owners_.back() != owner)) owners_.push_back(owner);
    }
  }
  void take(std::span<const Record> records) override {
    output_.sample(records.size(), [&](HeavyKeys& keys, std::size_t i) {
      if (!records[i].right) return;
      try {
        by_key_.add_to(keys, records[i]);
      } catch (...) {  // it is left out below
      }
    });
    for (const Record& one : records) {
      if (one.right) {
        send(one);
      } else {
        for (const std::uint32_t owner : owners_) output_.write(owner, one);
        output_.count(one.left->segments.at(0).pairs, one.left->segments[0].bytes);
      }
    }
  }
  void mark(const Mark& mark) override { output_.mark(mark); }

 private:
  void send(const Record& one) {
    std::uint32_t receiver = 0;
    try {
      receiver = by_key_(one, output_.receivers());
    } catch (...) {
      return bad_.skip();
    }
    output_.count(1);
    output_.write(receiver, one);
  }

  using RightKey = std::function<std::decay_t<std::invoke_result_t<const KeyOf&, const B&>>(const Record&)>;
  const BadRecords& bad_;
  FrameOutput& output_;
  ByKey<RightKey> by_key_;
  std::vector<std::uint32_t> owners_{};
};

// Those of runs that other replicas have made, and of another flow, by key.
template <class K, class A, class B, class U, class KeyOf, class F>
class CoGroupCached final : public CoGroup<K, A, B, Either<SortedRun, B>, U, F> {
 public:
  using Record = Either<SortedRun, B>;
  CoGroupCached(StageSite& site, KeyOf key_of, F f)
      : CoGroup<K, A, B, Record, U, F>(site, std::move(f)), key_of_(std::move(key_of)) {}
  void take(std::span<const Record> records) override {
    for (const Record& one : records) {
      if (one.left) {
        this->state_.add(*one.left);
      } else {
        this->add(K(key_of_(*one.right)), *one.right, Side::right);
      }
    }
  }

 private:
  KeyOf key_of_;
};

}  // namespace lp::dataflow
