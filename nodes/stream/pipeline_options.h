#pragma once
// The options of a pipeline. A value.

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "lp/base/scheduler.h"

namespace lp {

struct PipelineOptions {
  int replicas = 2;  // in each stage that names no other number
  // For sorted runs, which are in a folder of the run below it, removed at the end; all hosts see it. Empty: the
  // system's folder of temporary files.
  std::filesystem::path scratch{};
  std::uint64_t memory = std::uint64_t{64} << 20;  // bytes of an operator, before it writes to scratch
  // From the end of one checkpoint to the begin of the next. Sinks make results visible with checkpoints.
  Duration checkpoint_every = std::chrono::seconds(1);
  // The directory of a run of the same pipeline that has stopped: goes on from its last checkpoint, also with other
  // numbers of replicas.
  std::filesystem::path from{};
  // A followed file, and a replica of a source, from which nothing comes for so long holds back no watermark until
  // something comes again. One that reads files that do not grow is never idle. kForever: none is.
  Duration idle_after = std::chrono::seconds(10);
  bool share_processes = true;  // the first replicas of all stages are in one process, and so on
  bool durable = false;         // whether the files of sinks survive a crash of the machine
  // How many records are left out on which a function fails, or that are too long; one more ends the program. A
  // function that merges sums ends it when it fails.
  std::uint64_t skip_records = 0;
  int restarts = 3;  // how often each failed node is restarted; then the program stops
  Duration restart_after = std::chrono::milliseconds(100);  // it doubles with each restart of a node
};

}  // namespace lp
