#include "nodes/mapreduce/task_context.h"

#include <algorithm>
#include <utility>

#include "lp/base/text.h"
#include "nodes/dataflow/file_error.h"

namespace lp::dataflow {

bool skipped(const std::vector<BadRecord>& skip, std::string_view place, std::uint64_t offset) {
  return std::any_of(skip.begin(), skip.end(),
                     [&](const BadRecord& one) { return one.offset == offset && one.place == place; });
}

namespace {

// The text of the exception that is being handled. Rethrows those that are not about a record.
std::string cause() {
  rethrow_file_error();
  const Error error = as_error(std::current_exception());
  if (error.kind() == ErrorKind::stopped || error.kind() == ErrorKind::disconnected) throw;
  const std::string& type = error.origin().type;
  return type.empty() ? error.text() : type + ": " + error.text();
}

}  // namespace

void fail_on_record(const std::string& path, std::uint64_t offset, std::string_view record) {
  const std::string text = cause();
  throw BadRecordError({.place = path, .offset = offset}, "map failed on the record at byte " + std::to_string(offset) +
                                                              " of " + path + " (" + quote(record) + "): " + text);
}

void fail_on_key(std::string_view key) {
  const std::string text = cause();
  throw BadRecordError({.place = std::string(key)}, "reduce failed on the key " + quote(key) + ": " + text);
}

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
