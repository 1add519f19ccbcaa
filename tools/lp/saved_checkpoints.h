#pragma once
// Finds saved state by a name or a path: the cuts of a run, one of its cuts, or a single checkpoint file. Functions and
// values.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lp/checkpoint/checkpoint.h"

namespace lp::tool {

struct SavedFile {
  std::string node{};  // the node that saved it; empty: the file does not record it
  std::filesystem::path path{};
  std::uint64_t bytes = 0;
};

// A cut, or a single file.
struct Saved {
  std::filesystem::path path{};
  std::uint64_t step = 0;
  std::string program{};  // empty: unknown
  std::vector<SavedFile> files{};
  bool cut = false;
};

struct SavedList {
  std::vector<Saved> all{};             // by step
  std::vector<std::string> problems{};  // a sentence for each cut that is incomplete or damaged
};

// Lists the saved state of a run, of a cut's directory, of any directory with checkpoint files, or of one file. A word
// is a path if it has a slash or names a file. Reads only heads and indexes. Throws CommandError(unknown) when there is
// none, and Error for a file that is no checkpoint.
SavedList list_saved(const std::string& given);

// Reads and verifies one whole file. In a cut, it also verifies that the file belongs to that node and step. Throws
// Error.
Checkpoint read_saved(const Saved& saved, const SavedFile& file);

}  // namespace lp::tool
