#pragma once
// The configuration of a program that is one pipeline over lines: the flags that such programs have in common. A value.

#include <cstdint>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/config/config.h"
#include "programs/pipeline/pipeline.h"

namespace lp {

struct PipelineFlags {
  std::vector<std::string> input{};
  std::string replay{};
  std::string into{};
  bool follow = false;
  std::string until{};
  int replicas = 2;
  std::uint64_t memory_mib = 64;
  std::uint64_t checkpoint_ms = 1000;
  std::string from{};
  bool share_processes = true;
  int restarts = 3;
  std::uint64_t restart_ms = 100;
  bool durable = false;
  std::string scratch{};
  std::uint64_t skip_records = 0;

  static constexpr auto fields = lp::fields(
      field("input", "files, directories or globs in quotes, with commas between them"),
      field("replay", "instead of the input: reads this directory, the raw log of a stream, to its end"),
      field("into", "directory for the parts of the results"),
      field("follow", "whether the input grows: new lines and files are read as they come"),
      field("until", "with --follow: the stream ends when this file is there"),
      field("replicas", "nodes of a stage", range(1, 128)),
      field("memory_mib", "of an operator, before it writes to scratch; states of keys may not have more",
            range(1, 1 << 24)),
      field("checkpoint_ms", "from a checkpoint to the next one; results become visible with them", at_least(1)),
      field("from",
            "directory of a run that has stopped: goes on from its last checkpoint, also with other --replicas"),
      field("share_processes", "whether the first replicas of all stages are in one process, and so on"),
      field("restarts", "how often a node that fails is started again, before the program stops", non_negative),
      field("restart_ms", "the wait before a restart; it doubles each time", at_least(1)),
      field("durable", "whether results survive a crash of the machine at once"),
      field("scratch", "directory below which sorted runs are, which all hosts see; without it, the temporary one"),
      field("skip_records", "the most bad records that are left out; one more ends the program", non_negative));
};

inline PipelineOptions options_of(const PipelineFlags& flags) {
  return {.replicas = flags.replicas,
          .scratch = flags.scratch,
          .memory = flags.memory_mib << 20,
          .checkpoint_every = std::chrono::milliseconds(flags.checkpoint_ms),
          .from = flags.from,
          .share_processes = flags.share_processes,
          .durable = flags.durable,
          .skip_records = flags.skip_records,
          .restarts = flags.restarts,
          .restart_after = std::chrono::milliseconds(flags.restart_ms)};
}

// The lines of the input, or of the log that is replayed. Error::failed when both are given.
inline Flow<std::string_view> lines_of(const Pipeline& pipeline, const PipelineFlags& flags) {
  if (!flags.replay.empty() && (!flags.input.empty() || flags.follow)) {
    throw Error(ErrorKind::failed,
                "a replay reads its own directory to its end: give --pipeline.replay, or --pipeline.input and perhaps "
                "--pipeline.follow, not both");
  }
  if (!flags.replay.empty()) return pipeline.read({.paths = {flags.replay}}, {.name = "lines"});
  if (!flags.follow) return pipeline.read({.paths = flags.input}, {.name = "lines"});
  return pipeline.follow({.paths = flags.input, .until = flags.until}, {.name = "lines", .replicas = 1});
}

}  // namespace lp
