#pragma once
// What is saved under a name or a path: the cuts of a run, one of its cuts, or a checkpoint file that stands alone.
// Functions and values.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lp/checkpoint/checkpoint.h"

namespace lp::tool {

struct SavedFile {
  std::string node{};  // that has saved it; empty: the file does not say
  std::filesystem::path path{};
  std::uint64_t bytes = 0;
};

// A cut, or a file alone.
struct Saved {
  std::filesystem::path path{};
  std::uint64_t step = 0;
  std::string program{};  // empty: unknown
  std::vector<SavedFile> files{};
  bool cut = false;
};

struct SavedList {
  std::vector<Saved> all{};             // by step
  std::vector<std::string> problems{};  // a sentence for each cut that is not complete or not whole
};

// Of a run, of a cut's directory, of any directory with checkpoint files, or of one file. A path has a slash or is that
// of a file. Reads only heads and indexes. Throws Refusal(unknown) when there is none, and Error for a file that is no
// checkpoint.
SavedList list_saved(const std::string& given);

// All of one file, verified: also that it is the file of that node and step where it belongs to a cut. Throws Error.
Checkpoint read_saved(const Saved& saved, const SavedFile& file);

}  // namespace lp::tool
