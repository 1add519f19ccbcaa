#pragma once
// The configuration of a program that is one map-reduce: the flags that such programs have in common. A value.

#include <cstdint>
#include <string>
#include <vector>

#include "lp/config/config.h"
#include "programs/mapreduce/map_reduce.h"

namespace lp {

struct MapReduceFlags {
  std::vector<std::string> input{};
  std::string into{};
  Replicas workers = 2;
  std::uint32_t partitions = 4;
  std::uint64_t memory_mib = 256;
  std::uint64_t split_mib = 64;
  std::uint64_t longest_record_mib = 64;
  std::uint64_t skip_records = 0;
  int restarts = 3;
  bool backups = true;
  bool durable = false;
  std::string scratch{};

  static constexpr auto fields = lp::fields(
      field("input", "files, directories or globs in quotes, with commas between them"),
      field("into", "directory for the parts of the result, which must not exist"),
      field("workers", "nodes that map and reduce; 2..8: as many of eight as there are, two at least", range(1, 1024)),
      field("partitions", "files of the output", range(1, 10'000)),
      field("memory_mib", "of a worker", range(48, 1 << 24)),
      field("split_mib", "of input in a task", range(1, 1 << 24)),
      field("longest_record_mib",
            "a longer record is a bad one, as is one that is longer than (memory_mib - 40) / 4: 54 MiB of 256",
            range(1, 1 << 24)),
      field("skip_records", "the most bad records that are left out; one more ends the program", non_negative),
      field("restarts", "how often a node that fails is started again, before the program stops", non_negative),
      field("backups", "whether late tasks are given to a second worker, too"),
      field("durable", "whether the output survives a crash of the machine at once"),
      field("scratch", "directory for sorted runs, on each host; without it, beside the output"));
};

// The map-reduce that these flags ask for. `prefix` is what is in front of their names: "job." for --job.input.
inline MapReduce map_reduce_of(const MapReduceFlags& flags, const std::string& prefix = {}) {
  MapReduce out{.workers = flags.workers, .restarts = flags.restarts};
  out.job = {.input = {.paths = flags.input},
             .output = flags.into,
             .partitions = flags.partitions,
             .memory = flags.memory_mib << 20,
             .skip_records = flags.skip_records,
             .backups = flags.backups,
             .durable = flags.durable,
             .scratch = flags.scratch};
  out.job.input.split_bytes = flags.split_mib << 20;
  out.job.input.longest_record = flags.longest_record_mib << 20;
  out.job.input.longest_record_name = "--" + prefix + "longest-record-mib";
  out.job.memory_name = "--" + prefix + "memory-mib";
  return out;
}

}  // namespace lp
