#pragma once
// Checks the files that a program will write at its end against those that it reads, so that no output replaces the
// user's data. A value; a function for any thread.

#include <filesystem>
#include <span>
#include <string>

namespace lp {

struct NamedFile {
  std::string option{};  // the flag that names it: "--save"
  std::filesystem::path path{};
};

// Throws Error::failed if an output is an input, or another output, under whatever name. Empty paths do not count.
void check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

}  // namespace lp
