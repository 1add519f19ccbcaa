#pragma once
// The options of a map-reduce. Values.

#include <cstdint>
#include <filesystem>
#include <string>

#include "lp/program/context.h"
#include "nodes/dataflow/input_files.h"
#include "nodes/dataflow/partitioner.h"

namespace lp {

struct MapReduceOptions {
  InputOptions input{};
  // A directory that does not exist yet, in a file system that all hosts share. It appears when the job is done, as a
  // whole, with a file part-00000, part-00001, ... for each partition. Until then all is in OUTPUT.partial.
  std::filesystem::path output{};
  std::uint32_t partitions = 4;  // files of the output
  // range: the parts, one after the other, are sorted by key; its bounds come from a sample of the input.
  Partitioning partitioning = Partitioning::hash;
  std::uint64_t memory = std::uint64_t{256} << 20;       // bytes of a worker, all included; at least kLeastMemory
  std::string memory_name = "MapReduceOptions::memory";  // what its user raises: for messages
  std::uint32_t attempts = 4;                            // at a task; when it fails so often, the job fails
  std::uint64_t skip_records = 0;   // the most bad records, and keys, that are skipped; the next one fails the job
  bool backups = true;              // whether late tasks are also given to idle workers
  bool durable = false;             // whether the output survives a crash of the machine: costs an fsync for each part
  std::filesystem::path scratch{};  // for sorted runs, on each host; empty: in OUTPUT.partial

  static constexpr std::uint64_t kRuntimeMemory = std::uint64_t{40} << 20;  // for the process and the blocks of files
  static constexpr std::uint64_t kLeastMemory = std::uint64_t{48} << 20;
  // A record on which so many processes have ended is a bad one, too.
  static constexpr int kDeathsOfABadRecord = 2;

  // A record gets this part of a worker's memory without kRuntimeMemory, at most; pairs get the rest.
  static constexpr std::uint64_t kRecordShare = 4;

  // The same with the directory of this run in `scratch`, which it makes.
  MapReduceOptions in_run(const Context& node) const;

  std::uint64_t longest_record() const;  // bytes: InputOptions::longest_record, if the memory allows it
  std::uint64_t pair_memory() const { return memory - kRuntimeMemory - longest_record(); }
  std::filesystem::path partial() const { return output.string() + ".partial"; }
  std::filesystem::path parts() const { return partial() / "parts"; }
  std::filesystem::path attempt_files() const { return partial() / "attempts"; }
  std::filesystem::path run_files() const { return scratch.empty() ? partial() / "runs" : scratch; }
  // On which record a worker is: see dataflow::TaskNote. The same for all incarnations of the worker in a run.
  std::filesystem::path note_file(const std::string& run, std::uint32_t worker) const;
  static std::string part_name(std::uint32_t partition);  // "part-00003"
};

}  // namespace lp
