#include "launchers/record/run_locations.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "launchers/record/run_directory.h"
#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

// Matches "digits" or "7f3a" of "digits-20260131-235959-7f3a".
bool is_meant(const std::string& name, const std::string& given) {
  return name.starts_with(given) || name.ends_with("-" + given);
}

// Compares only the beginnings, because names end in a time and letters, in which nobody makes typing errors.
std::string nearest(const std::string& given, const std::vector<RunLocation>& runs) {
  std::vector<std::string> beginnings;
  for (const RunLocation& run : runs) beginnings.push_back(run.name.substr(0, given.size()));
  const std::string question = did_you_mean(given, beginnings);
  for (const RunLocation& run : runs) {
    if (question == "; did you mean " + run.name.substr(0, given.size()) + "?") {
      return "; did you mean " + run.name + "?";
    }
  }
  return runs.empty() ? "; there is no run yet" : "; `lp list` shows all runs";
}

}  // namespace

bool is_run(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::exists(directory / "plan.json", ignored);
}

std::vector<RunLocation> all_runs() {
  std::vector<std::pair<std::filesystem::file_time_type, RunLocation>> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(default_run_directory(""), error)) {
    if (!is_run(entry.path())) continue;
    const auto began = std::filesystem::last_write_time(entry.path() / "plan.json", error);
    found.emplace_back(began, RunLocation{entry.path().filename().string(), entry.path()});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second.name > b.second.name;
  });
  std::vector<RunLocation> runs;
  for (auto& [began, run] : found) runs.push_back(std::move(run));
  return runs;
}

RunLocation find_run(const std::string& given) {
  if (given.find('/') != std::string::npos) {
    std::filesystem::path directory = std::filesystem::path(given).lexically_normal();
    if (!directory.has_filename()) directory = directory.parent_path();
    if (!is_run(directory)) throw Error(ErrorKind::failed, given + " is not a run directory: it has no plan.json");
    return {directory.filename().string(), directory};
  }
  const std::vector<RunLocation> runs = all_runs();
  if (given == "last" && !runs.empty()) return runs.front();
  std::vector<RunLocation> fitting;
  for (const RunLocation& run : runs) {
    if (run.name == given) return run;
    if (!given.empty() && is_meant(run.name, given)) fitting.push_back(run);
  }
  if (!given.empty() && is_run(given)) return {given, given};
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) throw Error(ErrorKind::failed, "there is no run " + quote(given) + nearest(given, runs));
  std::string text = quote(given) + " fits " + std::to_string(fitting.size()) + " runs; give more of the name:";
  constexpr std::size_t kMostShownRuns = 10;
  for (std::size_t i = 0; i < std::min(fitting.size(), kMostShownRuns); ++i) text += "\n  " + fitting[i].name;
  if (fitting.size() > kMostShownRuns) text += "\n  ...";
  throw Error(ErrorKind::failed, text);
}

}  // namespace lp::launch
