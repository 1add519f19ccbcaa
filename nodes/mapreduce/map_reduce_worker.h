#pragma once
// A worker of a map-reduce: does the tasks that the master gives it, and serves the sorted runs that its map tasks have
// written to workers on other hosts. Workers on the same host, or with the same file system, read the files.
//
// It keeps nothing but those files, so that workers may come, go and die at any time. A node: run() works, and its
// method runs beside it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "lp/base/array.h"
#include "lp/program/context.h"
#include "lp/rpc/client.h"
#include "lp/rpc/clients.h"
#include "nodes/mapreduce/map_reduce_job.h"
#include "nodes/mapreduce/map_reduce_master.h"

namespace lp {

class MapReduceWorker final : public MapReduceMember {
 public:
  MapReduceWorker(Context& node, Client<MapReduceMaster> master, Clients<MapReduceWorker> workers,
                  dataflow::JobTasks tasks, MapReduceOptions options);

  void run(Context& node);

  // Reads at most `size` bytes of a run that was written on this host. Error::failed when there is no such run.
  Array<std::byte> read_run(const std::string& path, std::uint64_t offset, std::uint64_t size) const;

  using Remote = Methods<&MapReduceWorker::read_run>;

 private:
  dataflow::WorkReport done(const dataflow::WorkOrder& order);
  dataflow::WorkReport reduce(const dataflow::WorkOrder& order);
  dataflow::TaskContext task_context();
  std::string new_file();
  std::string run_name(std::uint64_t number) const { return own_ + "-" + std::to_string(number); }
  void remove_scratch() const noexcept;
  std::unique_ptr<dataflow::SegmentSource> open(const dataflow::ReduceInput& input);

  Context& context_;
  const Client<MapReduceMaster> master_;
  const Clients<MapReduceWorker> workers_;
  const dataflow::JobTasks tasks_;
  const MapReduceOptions options_;
  const std::string own_;    // names this incarnation in the names of files
  std::uint64_t files_ = 0;  // that were named
};

// A run on another host, which the worker that wrote it reads. Reading throws LostRunError when it cannot.
std::unique_ptr<dataflow::SegmentSource> remote_segment(Client<MapReduceWorker> worker, dataflow::ReduceInput input);

}  // namespace lp
