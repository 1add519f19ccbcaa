#pragma once
// Finds the runs of this user by name below the state directory, and reads the files in their directories. Functions
// and values.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "launchers/engine_interface/jobs.h"
#include "launchers/record/records.h"
#include "launchers/record/run_locations.h"
#include "launchers/record/status.h"
#include "lp/base/json_value.h"

namespace lp::tool {

using launch::RunLocation;

enum class Life : std::uint8_t {
  pending,    // its job waits to begin, or to begin again
  live,       // its launcher answers
  ended,      // it has ended and left its result
  lost,       // its launcher has ended without a result
  elsewhere,  // its launcher is on another host, which its engine or ssh reaches
};

// The contents of a run's files, and whether a launcher serves its socket.
struct RunView {
  RunLocation place{};
  RunRecord record{};
  RunStatus status{};
  std::optional<ResultRecord> result{};
  const launch::Jobs* jobs = nullptr;     // those of its engine; null: the run has no job
  std::optional<launch::JobState> job{};  // set where only the engine knows the state of the run
  Life life = Life::lost;
  bool silent = false;  // the launcher lives and does not answer: `status` is what its files have
};

// All runs, the newest first. Throws CommandError(failed) when the environment does not define where runs are.
std::vector<RunLocation> all_runs();

// Like internal::find_run. Throws CommandError(unknown).
RunLocation find_run(const std::string& given);

// Throws CommandError(failed) when there is no run in the directory, or its files are no JSON.
RunView view_of(const RunLocation& place);

// The text of a file of the run; nothing if there is no such file. Throws CommandError(failed) when it cannot be read
// or is too large.
std::optional<std::string> read_text(const std::filesystem::path& path);
// The file as JSON. Throws CommandError(failed) when it is malformed.
std::optional<JsonValue> read_document(const std::filesystem::path& path);

// The state for a table: "running", "no answer", "succeeded", "failed", "stopped" from outside, "launcher gone",
// "timeout" of a job.
std::string state_of(const RunView& run);
// Why the run ended, or its problem; empty while it lives and answers.
std::string outcome_of(const RunView& run);
// "its launcher is suspended: `kill -CONT 32060` lets it go on", or "its launcher is blocked in fsync() of /a/b, for a
// device". Empty: it is neither, or it is on another host.
std::string standstill_of(const RunView& run);
// Both, behind a name and a colon: "it was stopped by ann (lp stop): enough".
std::string sentence_of(const RunView& run);

}  // namespace lp::tool
