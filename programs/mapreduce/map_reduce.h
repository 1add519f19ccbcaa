#pragma once
// MapReduce (Dean and Ghemawat, OSDI 2004): a user writes a map and a reduce function, and has a program.
//
//     worker/0 ─┬─▶ master
//     worker/1 ─┘
//
//   struct WordCount {
//     static void map(std::string_view line, lp::Emit<std::string_view, std::uint64_t>& emit) {
//       for (const std::string_view word : lp::words(line)) emit(word, 1);
//     }
//     static void combine(std::uint64_t& sum, std::uint64_t one) { sum += one; }
//   };
//
// The functions are those of nodes/mapreduce/map_reduce_job.h. The job, its input and its output make a program:
//
//   lp::add_map_reduce(program, WordCount(), {.job = {.input = {.paths = {"texts/*.txt"}}, .output = "counts"}});
//
// The output is a function of the job and its input, also when workers or the master are killed, if the job's functions
// are functions of their arguments.
//
// Values; pure functions.

#include <string_view>
#include <utility>

#include "lp/base/replicas.h"
#include "lp/program/program.h"
#include "nodes/dataflow/number.h"
#include "nodes/dataflow/words.h"
#include "nodes/mapreduce/map_reduce_job.h"
#include "nodes/mapreduce/map_reduce_master.h"
#include "nodes/mapreduce/map_reduce_options.h"
#include "nodes/mapreduce/map_reduce_worker.h"

namespace lp {

struct MapReduce {
  MapReduceOptions job{};
  Replicas workers = 2;  // {2, 8}: goes on with two of eight, and uses all that are there
  int restarts = 3;      // how often each failed node is restarted; then the program stops, or loses an elastic worker
};

// Adds the groups "master", which ends the program, and "worker". Error::failed when an option does not fit.
Handle<MapReduceMaster> add_map_reduce_tasks(Program& program, dataflow::JobTasks tasks, const MapReduce& options);

template <class Job>
Handle<MapReduceMaster> add_map_reduce(Program& program, const Job& job, const MapReduce& options) {
  return add_map_reduce_tasks(program, dataflow::tasks_of(job), options);
}

}  // namespace lp
