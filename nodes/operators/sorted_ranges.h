#pragma once
// Sorted runs that several replicas of the next stage merge, each a range of the keys. A run is divided into blocks,
// and has the first key of each. Bounds between ranges are such keys, so they are an even sample of the keys.
//
// A RangedWriter, SortedRanges and GivenRanges are owned by an operator; one thread. The rest are values.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nodes/dataflow/merge.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/dataflow/sort_buffer.h"
#include "nodes/dataflow/sorted_run.h"
#include "nodes/stream/operator_state.h"
#include "nodes/stream/stage_plan.h"

namespace lp::dataflow {

struct RangedRun {
  SortedRun run{};                    // a segment for each block
  std::vector<std::string> begins{};  // first key of each block, or its first bytes
};

// Writes such a run: its pairs come in the order of their keys.
class RangedWriter {
 public:
  RangedWriter(StageSite& site, ScratchLife life);
  void add(const Pair& pair);
  bool empty() const { return out_.begins.empty(); }
  RangedRun finish();

 private:
  static constexpr std::size_t kBeginBytes = 64;
  static constexpr std::size_t kBlocks = 512;  // in a run that has all of the memory
  static constexpr std::size_t kLeastBlock = 4096;

  const std::size_t most_;  // bytes of a block
  RunWriter run_;
  std::size_t bytes_ = 0;  // in the block
  RangedRun out_{};
};

// Pairs in a bounded amount of memory, and then in runs on disk. A checkpoint names the runs.
class SortedRanges {
 public:
  explicit SortedRanges(StageSite& site);

  void add(const Pair& pair);
  // Writes what is in memory to a run.
  void spill();
  void save(OperatorState& out) const;  // after spill()
  void load(const StatePiece& piece);
  // All runs. Nothing can be added afterwards.
  std::vector<RangedRun> take();

 private:
  void add_large(const Pair& pair);

  StageSite& site_;
  std::optional<SortBuffer> buffer_;
  std::vector<RangedRun> runs_{};
};

// Runs that others wrote, as the state of a replica that merges them. All replicas have the same ones.
class GivenRanges {
 public:
  explicit GivenRanges(StageSite&) {}
  void add(const RangedRun& run) { runs_.insert_or_assign(run.run.path, run); }
  void spill() {}
  void save(OperatorState& out) const;
  void load(const StatePiece& piece);
  // All runs. Nothing is left.
  std::vector<RangedRun> take();

 private:
  std::map<std::string, RangedRun> runs_{};  // by path
};

// The keys from `begin` up to, but without, `end`; without an end, all from there on.
struct KeyRange {
  std::string begin{};
  std::string end{};
  bool last = false;  // it has no end
};

// The range of a replica: the ranges of all replicas have about the same size, and are in their order.
KeyRange range_of(const std::vector<RangedRun>& runs, std::uint32_t replica, std::uint32_t replicas);

// The blocks of a run that may have keys of the range. The first one may also have smaller keys, and the last one
// greater keys.
struct BlockRange {
  std::size_t begin = 0;
  std::size_t end = 0;  // not in it
};
BlockRange blocks_of(const RangedRun& run, const KeyRange& range);

// A segment of a run. Error::failed, with what to do, when the run is gone.
std::unique_ptr<SegmentSource> open_run(const std::string& path, const Segment& segment);

// Reads a run that a checkpoint names. MissingFile when it is gone.
RangedRun run_in(RecordBytes& in);

// Adds these blocks as a sorted segment, if there are any.
void add_blocks(const RangedRun& run, const KeyRange& range, std::vector<MergeInput>& out);

}  // namespace lp::dataflow
