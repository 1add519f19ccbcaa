#pragma once
// Where a task runs: its memory, its files, the records to skip, and whether it still has to go on. Owned by a worker;
// one thread.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lp/base/error.h"
#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/merge.h"
#include "nodes/mapreduce/task_note.h"
#include "nodes/mapreduce/work_messages.h"

namespace lp::dataflow {

// A task fails on one record, which can be skipped.
class BadRecordError : public Error {
 public:
  BadRecordError(BadRecord bad, bool repeats, const std::string& text)
      : Error(ErrorKind::failed, text), bad_(std::move(bad)), repeats_(repeats) {}
  const BadRecord& bad() const { return bad_; }
  bool repeats() const { return repeats_; }  // another attempt would fail, too

 private:
  BadRecord bad_;
  bool repeats_;
};

// The sorted runs of some map tasks are gone.
class LostRunError : public Error {
 public:
  LostRunError(std::uint32_t map_task, const std::string& text) : Error(ErrorKind::failed, text), map_task_(map_task) {}
  std::uint32_t map_task() const { return map_task_; }

 private:
  std::uint32_t map_task_;
};

struct TaskContext {
  TaskNote& note;
  std::size_t memory = 0;  // bytes for pairs, or for the blocks of a merge
  InputOptions input{};
  OpenInput open_input{};
  std::function<std::string()> new_file{};  // a name that nothing has
  std::function<void()> check{};            // throws when the task need not go on
  std::function<std::unique_ptr<SegmentSource>(const ReduceInput& input)> open{};
};

// Whether the record is to be skipped.
bool skipped(const std::vector<BadRecord>& skip, std::string_view place, std::uint64_t offset);

// Rethrow the exception that is being handled as one that names the record or the key, unless the node stops, or a run
// is gone. Call them in a handler. `again` is called to see whether the same fails again.
[[noreturn]] void fail_on_record(const std::string& path, std::uint64_t offset, std::string_view record,
                                 const std::function<void()>& again);
[[noreturn]] void fail_on_key(std::string_view key, const std::function<void()>& again);

// All pairs of a reduce task, in order.
Merge merge_inputs(const WorkOrder& order, const TaskContext& context);

// The totals of a map task's runs.
void count_runs(const std::vector<SortedRun>& runs, MapReduceCounters& counters);

}  // namespace lp::dataflow
