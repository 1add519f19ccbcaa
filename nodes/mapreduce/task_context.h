#pragma once
// Where a task runs: its memory, its files, and whether it still has to go on. Owned by a worker; one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/merge.h"
#include "nodes/mapreduce/task_note.h"
#include "nodes/mapreduce/work_messages.h"

namespace lp::dataflow {

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

// All pairs of a reduce task, in order.
Merge merge_inputs(const WorkOrder& order, const TaskContext& context);

// The totals of a map task's runs.
void count_runs(const std::vector<SortedRun>& runs, MapReduceCounters& counters);

}  // namespace lp::dataflow
