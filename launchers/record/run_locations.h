#pragma once
// Where the runs of this user are: by name, below the state directory. Functions and values; any thread.

#include <filesystem>
#include <string>
#include <vector>

namespace lp::internal {

struct RunPlace {
  std::string name{};
  std::filesystem::path directory{};
};

bool is_run(const std::filesystem::path& directory);

// All runs, the newest first. Throws Error when nothing says where runs are.
std::vector<RunPlace> all_runs();

// The run that `given` means: a name, its beginning or its end, as long as only one run has it; "last"; or, with a
// slash, a directory. Throws Error, naming those that fit, or the nearest.
RunPlace find_run(const std::string& given);

}  // namespace lp::internal
