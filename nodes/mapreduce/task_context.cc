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

struct Cause {
  std::string text{};
  bool repeats = false;
};

// The text of the exception that is being handled, and whether it comes again. Rethrows those that are not about a
// record.
Cause cause(const std::function<void()>& again) {
  rethrow_file_error();
  try {
    throw;
  } catch (const LostRunError&) {
    throw;
  } catch (...) {
    const Error error = as_error(std::current_exception());
    if (error.kind() == ErrorKind::stopped || error.kind() == ErrorKind::disconnected) throw;
    const std::string& type = error.origin().type;
    return {.text = type.empty() ? error.text() : type + ": " + error.text(), .repeats = fails_again(again)};
  }
}

}  // namespace

void fail_on_record(const std::string& path, std::uint64_t offset, std::string_view record,
                    const std::function<void()>& again) {
  const std::string bytes = record.data() == nullptr ? "" : " (" + quote(record) + ")";  // it could not be read
  const Cause why = cause(again);
  throw BadRecordError(
      {.place = path, .offset = offset}, why.repeats,
      "map failed on the record at byte " + std::to_string(offset) + " of " + path + bytes + ": " + why.text);
}

void fail_on_key(std::string_view key, const std::function<void()>& again) {
  const Cause why = cause(again);
  throw BadRecordError({.place = std::string(key)}, why.repeats,
                       "reduce failed on the key " + quote(key) + ": " + why.text);
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
