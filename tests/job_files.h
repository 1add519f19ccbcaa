#pragma once
// The directories of a test that reads files and writes others: they go away with their owner. For any test; one
// thread.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/directory.h"

namespace lp::test {

class JobFiles {
 public:
  // Makes a file of the input. Returns its path.
  std::string write(const std::string& name, std::string_view text) const {
    std::filesystem::create_directories(input());
    const std::filesystem::path path = input() / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::filesystem::path path() const { return directory_.path(); }
  std::filesystem::path input() const { return path() / "input"; }
  std::filesystem::path output() const { return path() / "output"; }

 private:
  Directory directory_;
};

}  // namespace lp::test
