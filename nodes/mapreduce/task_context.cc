#include "nodes/mapreduce/task_context.h"

#include <utility>

namespace lp::dataflow {

Merge merge_inputs(const WorkOrder& order, const TaskContext& context) {
  std::vector<MergeInput> inputs;
  for (const ReduceInput& one : order.runs) {
    if (one.segment.pairs == 0) continue;
    inputs.push_back({.bytes = one.segment.bytes, .open = [one, &context] { return context.open(one); }});
  }
  return merge_within(std::move(inputs), context.memory, context.new_file);
}

void count_runs(const std::vector<SortedRun>& runs, MapReduceCounters& counters) {
  counters.runs += runs.size();
  for (const SortedRun& run : runs) {
    for (const Segment& one : run.segments) {
      counters.shuffled_pairs += one.pairs;
      counters.shuffled_bytes += one.bytes;
    }
  }
}

}  // namespace lp::dataflow
