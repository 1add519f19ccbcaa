#pragma once
// Directories in which the nodes of a run keep large files, outside of the run's own directory. That one has a link to
// each of them, so a launcher and `lp rm` also remove what killed nodes have left. Pure functions; any thread.
//
// A directory around a scratch directory goes with it when a file in it, kRunMark, names the same run. So a run that
// prepares results in a directory of its own leaves nothing of it; and when another run has taken it over, it stays.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "lp/program/scratch_life.h"

namespace lp {

inline constexpr const char* kRunMark = ".run";       // a file that names the run which made its directory
inline constexpr std::size_t kLongestRunName = 4096;  // bytes in that file

// Makes the directory of a run below `parent`, and returns it. `run_directory`: the run's own; empty: it has none.
// Error::failed when the directory cannot be made.
std::filesystem::path make_scratch(const std::filesystem::path& run_directory, const std::string& run,
                                   const std::filesystem::path& parent, ScratchLife life);

// Removes all directories of this life that the run has made, as far as this host sees them.
void remove_scratch(const std::filesystem::path& run_directory, ScratchLife life);

// Removes what make_scratch returned, for a run that has no directory.
void remove_scratch_directory(const std::filesystem::path& made);

// The directories that remove_scratch would remove.
std::vector<std::filesystem::path> kept_scratch(const std::filesystem::path& run_directory, ScratchLife life);

// Whether the run may have made some.
bool has_scratch(const std::filesystem::path& run_directory);

}  // namespace lp
