#pragma once
// The state of an operator that sorts or aggregates a stream that ends: pairs in a bounded amount of memory, and sorted
// runs on disk. A checkpoint names the runs. Owned by an operator; one thread.

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "nodes/dataflow/groups.h"
#include "nodes/dataflow/map_output.h"
#include "nodes/dataflow/sorted_run.h"
#include "nodes/stream/operator_state.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

class SortedState {
 public:
  // With `combined`, the size of every value, the pairs of a key are combined.
  SortedState(StageSite& site, std::optional<std::size_t> combined);

  MapOutput& output() { return *output_; }
  // Writes what is in memory to a run.
  void spill();
  void save(OperatorState& out) const;  // after spill()
  void load(const StatePiece& piece);
  // All pairs, by key, each time that it is called; those of other replicas' key groups, which may be among them after
  // a change of their number, are to be left out. Nothing can be added afterwards.
  Groups groups();
  // The same as one sorted run, without pairs of other replicas' keys.
  SortedRun merged();
  // Takes a run that another operator has made.
  void add(SortedRun run) { runs_.push_back(std::move(run)); }
  bool owns(std::string_view key) const { return site_.owns(key_group(key)); }

 private:
  Merge merge();

  StageSite& site_;
  std::optional<MapOutput> output_{};
  std::vector<SortedRun> runs_{};
  std::vector<SortedRun> merged_{};  // those that were given by groups() or merged()
};

}  // namespace lp::dataflow
