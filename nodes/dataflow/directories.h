#pragma once
// Directories that a user names for results and for scratch files. Pure functions of the file system.

#include <filesystem>

namespace lp::dataflow {

// Error::failed when no file can be made in the directory, which need not exist yet: it is a file, or the closest
// directory above it that exists is one, or is not to be written.
void need_directory(const std::filesystem::path& directory);

}  // namespace lp::dataflow
