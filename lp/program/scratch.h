#pragma once
// Directories in which the nodes of a run keep large files, outside of the run's own directory. That one has a link to
// each of them, so a launcher and `lp rm` also remove what killed nodes have left. Pure functions; any thread.

#include <filesystem>
#include <string>

#include "lp/program/scratch_life.h"

namespace lp {

// Makes the directory of a run below `parent`, and returns it. `run_directory`: the run's own; empty: it has none.
// Error::failed when the directory cannot be made.
std::filesystem::path make_scratch(const std::filesystem::path& run_directory, const std::string& run,
                                   const std::filesystem::path& parent, ScratchLife life);

// Removes all directories of this life that the run has made, as far as this host sees them.
void remove_scratch(const std::filesystem::path& run_directory, ScratchLife life);

// Whether the run may have made some.
bool has_scratch(const std::filesystem::path& run_directory);

}  // namespace lp
