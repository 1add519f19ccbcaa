#include "nodes/operators/sorted_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "nodes/dataflow/merge.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/operators/sorted_ranges.h"

namespace lp::dataflow {

SortedState::SortedState(StageSite& site, std::optional<std::size_t> combined) : site_(site) {
  output_.emplace(Partitioner(1), static_cast<std::size_t>(site_.options.memory), combined,
                  [this] { return site_.new_file(); });
}

void SortedState::spill() {
  if (!output_) return;
  std::vector<SortedRun> more = output_->finish();
  std::move(more.begin(), more.end(), std::back_inserter(runs_));
}

void SortedState::save(OperatorState& out) const {
  for (const SortedRun& one : runs_) {
    RecordWriter bytes;
    write_record(bytes, one);
    out.push_back({.group = kEveryReplica, .bytes = bytes.take(0)});
  }
}

void SortedState::load(const StatePiece& piece) {
  RecordBytes in(piece.bytes);
  auto run = read_record<SortedRun>(in);
  need_file(run.path);
  const auto same = [&](const SortedRun& one) { return one.path == run.path; };  // from another replica
  if (std::none_of(runs_.begin(), runs_.end(), same)) runs_.push_back(std::move(run));
}

Groups SortedState::groups() { return Groups(merge()); }

SortedRun SortedState::merged() {
  Merge all = merge();
  RunWriter run(site_.new_file(), 1);
  for (Pair pair; all.next(pair);) {
    if (owns(pair.key)) run.add(0, pair);
  }
  return run.finish();
}

Merge SortedState::merge() {
  spill();
  output_.reset();  // its memory is for the blocks of the merge
  if (!runs_.empty()) merged_ = std::exchange(runs_, {});
  std::vector<MergeInput> inputs;
  for (const SortedRun& run : merged_) {
    const std::uint64_t bytes = run.segments.at(0).bytes;
    if (bytes > 0) inputs.push_back({.bytes = bytes, .open = [run] { return open_run(run.path, run.segments[0]); }});
  }
  return merge_within(std::move(inputs), static_cast<std::size_t>(site_.options.memory),
                      [this] { return site_.new_file(); });
}

}  // namespace lp::dataflow
