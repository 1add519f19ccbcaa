#pragma once
// The part of a state that did not fit into memory: sorted runs on disk, the oldest first. A run is removed when it is
// not needed any more and no checkpoint that may be restored names it.
//
// Owned by an operator; one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nodes/dataflow/groups.h"
#include "nodes/dataflow/sorted_run.h"
#include "nodes/operators/sorted_ranges.h"
#include "nodes/stream/frame.h"
#include "nodes/stream/operator_state.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

// The range that has this key alone.
KeyRange range_of_key(std::string_view key);

class SpilledRuns {
 public:
  // `kind` marks its pieces of a checkpoint.
  SpilledRuns(StageSite& site, std::uint8_t kind) : site_(site), kind_(kind) {}

  bool empty() const { return runs_.empty(); }
  std::size_t size() const { return runs_.size(); }  // number of runs
  RangedWriter begin() { return RangedWriter(site_, ScratchLife::cuts); }
  // Adds a run, as the newest. It is needed up to a time.
  void add(RangedRun run, EventTime until);
  // Removes those that are not needed: gone(until).
  void forget(const std::function<bool(EventTime until)>& gone);

  // Number of blocks that may have pairs of a range.
  std::size_t blocks(const KeyRange& range) const;
  // Calls f(group) for each key of the range, in their order, until it returns false. Values of a key come in the order
  // of the runs.
  void each_in(const KeyRange& range, std::size_t memory, const std::function<bool(Groups& group)>& f);
  // Like each_in(), but continues past the range to the end of its blocks. Returns the least of the keys with which
  // later blocks begin, or its first bytes; empty: there is none.
  std::string each_from(const KeyRange& range, std::size_t memory, const std::function<bool(Groups& group)>& f);
  // Whether the pairs of a key are this replica's. After a change of their number, runs also have others' pairs.
  bool owns(std::string_view key) const { return site_.owns(key_group(key)); }

  void cut(std::uint64_t number);
  void commit(std::uint64_t number);
  void save(OperatorState& out) const;
  // Returns false, and takes nothing, when the piece is of another kind.
  bool load(const StatePiece& piece);

 private:
  struct Run {
    RangedRun ranged{};
    EventTime until = 0;
    bool named = false;  // a checkpoint has it
  };
  struct Old {
    std::string path{};
    std::uint64_t cut = 0;  // this one, and later ones, do not name it; 0: not known yet
  };
  Merge merge(const KeyRange& range, std::size_t memory);
  void remove(const Run& run);

  StageSite& site_;
  const std::uint8_t kind_;
  std::vector<Run> runs_{};
  std::vector<Old> old_{};
};

}  // namespace lp::dataflow
