#pragma once
// Finds the runs of this user by name, below the state directory. Functions and values; any thread.

#include <filesystem>
#include <string>
#include <vector>

namespace lp::launch {

struct RunLocation {
  std::string name{};
  std::filesystem::path directory{};
};

bool is_run(const std::filesystem::path& directory);

// Returns all runs, the newest first. Throws Error when the environment does not define where runs are.
std::vector<RunLocation> all_runs();

// Finds the run that `given` means: a name; its beginning or end, if only one run has it; "last"; or, with a slash, a
// directory. Throws Error with the names that fit, or with the nearest name.
RunLocation find_run(const std::string& given);

}  // namespace lp::launch
