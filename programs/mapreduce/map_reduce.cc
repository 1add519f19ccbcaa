#include "programs/mapreduce/map_reduce.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "lp/base/error.h"

namespace lp {
namespace {

void need(bool fits, const std::string& what) {
  if (!fits) throw Error(ErrorKind::failed, "a map-reduce needs " + what);
}

// The next job over the same input would read it.
void check_output(const MapReduceOptions& job) {
  const std::string input = input_around(job.input.paths, job.output);
  if (input.empty()) return;
  throw Error(ErrorKind::failed,
              "the output " + job.output.string() + " would be input of the next job that reads " + input +
                  ": name a directory outside of the input, or one in it whose name begins with '_'");
}

void check(const dataflow::JobTasks& tasks, const MapReduceOptions& job) {
  need(!job.input.paths.empty(), "input: files, directories or globs");
  need(!job.output.empty(), "an output directory");
  check_output(job);
  need(job.partitions > 0, "1 partition at least");
  need(job.attempts > 0, "1 attempt of a task at least");
  need(job.input.split_bytes > 0 && job.input.longest_record > 0, "splits and records of 1 byte at least");
  need(job.memory >= MapReduceOptions::kLeastMemory, std::to_string(MapReduceOptions::kLeastMemory >> 20) +
                                                         " MiB of memory for a worker at least, not " +
                                                         std::to_string(job.memory >> 20));
  need(tasks.csv == (job.input.format == InputFormat::csv),
       tasks.csv ? "InputFormat::csv, because its map takes rows" : "a map that takes rows, because its input is CSV");
}

// How many processes of a worker may be ended by bad records.
int deaths_by_bad_records(const MapReduce& options) {
  constexpr std::uint64_t kMost = 10'000;
  const auto records = static_cast<int>(std::min(options.job.skip_records, kMost));
  return options.restarts > 0 ? records * MapReduceOptions::kDeathsOfABadRecord : 0;
}

}  // namespace

Handle<MapReduceMaster> add_map_reduce_tasks(Program& program, dataflow::JobTasks tasks, const MapReduce& options) {
  check(tasks, options.job);
  MapReduceOptions job = options.job;
  if (!job.output.has_filename()) job.output = job.output.parent_path();  // "counts/": others go beside it
  if (job.longest_record() < job.input.longest_record) {
    job.input.longest_record = job.longest_record();
    job.input.longest_record_name = job.memory_name + ", of which a record gets a quarter of what is above " +
                                    std::to_string(MapReduceOptions::kRuntimeMemory >> 20) + " MiB";
  }
  const FailurePolicy policy = options.restarts > 0 ? restart(options.restarts) : stop_program();
  GroupOptions workers{.name = "worker", .replicas = options.workers, .on_failure = policy};
  workers.on_failure.budget += deaths_by_bad_records(options);
  if (options.restarts == 0 && options.workers.elastic()) workers.on_failure = ignore();
  const auto group = program.declare_group<MapReduceWorker>(workers);
  const GroupHandle<MapReduceMember> members = group;
  auto master = program.add<MapReduceMaster>({.name = "master", .on_failure = policy, .ends_program = true}, context,
                                             members, job);
  program.define(group, context, master, group, std::move(tasks), job);
  return master;
}

}  // namespace lp
