#pragma once
// A directory that a test may write into; it goes away with its owner. For any test; one thread.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace lp::test {

class Directory {
 public:
  Directory() {
    std::string path = (std::filesystem::temp_directory_path() / "lp-test-XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lp::test
