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
  std::uint64_t idle_ms = 10'000;
  std::string from{};
  bool share_processes = true;
  int restarts = 3;
  std::uint64_t restart_ms = 100;
  bool durable = false;
  std::string scratch{};
  std::uint64_t skip_records = 0;
  std::uint64_t longest_line_mib = 64;

  static constexpr auto fields = lp::fields(
      field("input", "files, directories or globs in quotes, with commas between them"),
      field("replay", "instead of the input: reads this directory, the raw log of a stream, to its end"),
      field("into", "directory for the parts of the results"),
      field("follow", "whether the input grows: new lines and files are read as they come"),
      field("until", "with --follow: the stream ends when this file is there", adaptable),
      field("replicas", "nodes of a stage", range(1, 128), adaptable),
      field("memory_mib", "of an operator, before it writes to scratch; states of keys may not have more",
            range(1, 1 << 24), adaptable),
      field("checkpoint_ms", "from a checkpoint to the next one; results become visible with them", at_least(1),
            adaptable),
      field("idle_ms", "a followed file from which nothing comes for so long holds no window back", at_least(1),
            adaptable),
      field("from", "directory of a run that has stopped: goes on from its last checkpoint, also with other --replicas",
            adaptable),
      field("share_processes", "whether the first replicas of all stages are in one process, and so on", adaptable),
      field("restarts", "how often a node that fails is started again, before the program stops", non_negative,
            adaptable),
      field("restart_ms", "the wait before a restart; it doubles each time", at_least(1), adaptable),
      field("durable", "whether results survive a crash of the machine at once", adaptable),
      field("scratch", "directory below which sorted runs are, which all hosts see; without it, the temporary one",
            adaptable),
      field("skip_records", "the most bad records that are left out; one more ends the program", non_negative,
            adaptable),
      field("longest_line_mib", "a longer line is a bad record", range(1, 1 << 24), adaptable));
};

inline PipelineOptions options_of(const PipelineFlags& flags) {
  return {.replicas = flags.replicas,
          .scratch = flags.scratch,
          .memory = flags.memory_mib << 20,
          .checkpoint_every = std::chrono::milliseconds(flags.checkpoint_ms),
          .from = flags.from,
          .idle_after = std::chrono::milliseconds(flags.idle_ms),
          .share_processes = flags.share_processes,
          .durable = flags.durable,
          .skip_records = flags.skip_records,
          .restarts = flags.restarts,
          .restart_after = std::chrono::milliseconds(flags.restart_ms)};
}

// The lines of the input, or of the log that is replayed. Error::failed when both are given, or none.
inline Flow<std::string_view> lines_of(const Pipeline& pipeline, const PipelineFlags& flags) {
  if (flags.replay.empty() && flags.input.empty()) {
    throw Error(ErrorKind::failed,
                "there is no input: let --pipeline.input name files, directories or globs, or --pipeline.replay the "
                "log of a stream");
  }
  if (!flags.replay.empty() && (!flags.input.empty() || flags.follow)) {
    throw Error(ErrorKind::failed,
                "a replay reads its own directory to its end: give --pipeline.replay, or --pipeline.input and perhaps "
                "--pipeline.follow, not both");
  }
  if (!flags.until.empty() && !flags.follow) {
    throw Error(ErrorKind::failed, "--pipeline.until is for input that grows: give --pipeline.follow, too");
  }
  if (flags.idle_ms != PipelineFlags().idle_ms && !flags.follow) {
    throw Error(ErrorKind::failed,
                "--pipeline.idle-ms has no effect without --pipeline.follow: files that do not grow are never idle");
  }
  const std::uint64_t longest = flags.longest_line_mib << 20;
  const std::string name = "--pipeline.longest-line-mib";
  if (flags.follow) {
    return pipeline.follow(
        {.paths = flags.input, .until = flags.until, .longest_line = longest, .longest_line_name = name},
        {.name = "lines", .replicas = 1});
  }
  const bool replays = !flags.replay.empty();
  return pipeline.read({.paths = replays ? std::vector{flags.replay} : flags.input,
                        .longest_record = longest,
                        .longest_record_name = name},
                       {.name = "lines"});
}

}  // namespace lp
