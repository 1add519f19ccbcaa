#pragma once
// The runs of this user: found by name below the state directory, and read from the files that each leaves in its
// directory. Functions and values.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/record/records.h"
#include "launchers/record/run_locations.h"
#include "launchers/record/status.h"
#include "launchers/slurm/job.h"
#include "lp/base/json_value.h"

namespace lp::tool {

using internal::RunPlace;

enum class Life : std::uint8_t {
  pending,    // its job waits to begin, or to begin again
  live,       // its launcher answers
  ended,      // and has left its result
  lost,       // its launcher is gone without having left a result
  elsewhere,  // its launcher is on another host, where its engine or ssh leads
};

// What the files of a run say, and whether somebody serves its socket.
struct RunView {
  RunPlace place{};
  RunRecord record{};
  RunStatus status{};
  std::optional<ResultRecord> result{};
  std::optional<internal::JobState> job{};  // where only Slurm can say what has become of the run
  Life life = Life::lost;
};

// All runs, the newest first. Throws Refusal(failed) when nothing says where runs are.
std::vector<RunPlace> all_runs();

// As internal::find_run. Throws Refusal(unknown).
RunPlace find_run(const std::string& given);

// Throws Refusal(failed) when there is no run in the directory, or its files are no JSON.
RunView view_of(const RunPlace& place);

// A file of the run; nothing where it is not. Throws Refusal(failed) when it cannot be read or is too large.
std::optional<std::string> read_text(const std::filesystem::path& path);
// The same, as JSON. Throws Refusal(failed) when it is none.
std::optional<JsonValue> read_document(const std::filesystem::path& path);

// "running", "succeeded", "failed", "stopped" from outside, "launcher gone", "timeout" of a job: what a table says of
// the run.
std::string state_of(const RunView& run);
// Why it ended, or what is wrong; empty while it runs.
std::string outcome_of(const RunView& run);
// Both, behind a name and a colon: "it was stopped by ann (lp stop): enough".
std::string sentence_of(const RunView& run);

}  // namespace lp::tool
