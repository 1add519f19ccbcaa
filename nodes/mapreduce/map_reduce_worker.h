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
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "lp/base/array.h"
#include "lp/program/context.h"
#include "lp/rpc/client.h"
#include "lp/rpc/clients.h"
#include "nodes/mapreduce/map_reduce_job.h"
#include "nodes/mapreduce/map_reduce_master.h"
#include "nodes/mapreduce/map_reduce_member.h"
#include "nodes/mapreduce/output_claim.h"

namespace lp {

class MapReduceWorker final : public MapReduceMember {
 public:
  MapReduceWorker(Context& node, Client<MapReduceMaster> master, Clients<MapReduceWorker> workers,
                  dataflow::JobTasks tasks, const MapReduceOptions& options);

  void run(Context& node);

  FoundInputs find_inputs() const override;
  std::uint64_t input_size(const std::string& path) const override;
  Array<std::byte> read_input(const std::string& path, std::uint64_t offset, std::uint64_t size) const override;
  // Reads at most `size` bytes of a run that was written on this host. Error::failed when there is no such run.
  Array<std::byte> read_run(const std::string& path, std::uint64_t offset, std::uint64_t size) const;
  // Those of the runs that are not on this host.
  std::vector<std::string> missing_runs(std::vector<std::string> paths) const;

  using Remote = Methods<deadline<&MapReduceWorker::find_inputs, kLongestSearch>, &MapReduceWorker::input_size,
                         &MapReduceWorker::read_input, &MapReduceWorker::read_run, &MapReduceWorker::missing_runs>;

 private:
  dataflow::WorkReport last_words() const;
  dataflow::WorkReport done(const dataflow::WorkOrder& order);
  dataflow::WorkReport attempt(const dataflow::WorkOrder& order);
  dataflow::WorkReport reduce(const dataflow::WorkOrder& order);
  dataflow::TaskContext task_context();
  std::filesystem::path note_file() const;
  std::error_code make_run_directory() const;
  std::string new_file();
  std::string run_name(std::uint64_t number) const { return own_ + "-" + std::to_string(number); }
  void remove_scratch() const noexcept;
  std::vector<Client<MapReduceMember>> holders(const std::string& path) const;
  void check_input(const std::string& path) const;
  std::optional<Client<MapReduceWorker>> other(std::uint32_t worker) const;  // nothing for itself, or one that is gone
  std::vector<std::uint32_t> lost_with(const dataflow::WorkOrder& order, std::uint32_t task) const;
  std::unique_ptr<dataflow::SegmentSource> open(const dataflow::ReduceInput& input);

  Context& context_;
  const Client<MapReduceMaster> master_;
  const Clients<MapReduceWorker> workers_;
  const dataflow::JobTasks tasks_;
  const MapReduceOptions options_;
  dataflow::OutputClaim claim_{};  // the run lives as long as this worker
  std::optional<dataflow::TaskNote> note_{};
  mutable std::set<std::string> inputs_{};  // that others may read, as far as they were asked for
  const std::string own_;                   // names this incarnation in the names of files
  std::uint64_t files_ = 0;                 // that were named
};

// A run on another host, which the worker that wrote it reads. Reading throws LostRunError when it cannot.
std::unique_ptr<dataflow::SegmentSource> remote_segment(Client<MapReduceWorker> worker, dataflow::ReduceInput input);

}  // namespace lp
