#pragma once
// What the tests of this folder share: directories that go away, and commands whose output and exit code they read.

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

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

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Ended {
  int code = -1;  // 124 when it did not end within a minute; more than 128: by a signal
  std::string output{};
};

// Runs a command of the shell, standard error included.
inline Ended command(const std::string& line) {
  Ended ended;
  FILE* pipe = popen(("exec 2>&1; " + line).c_str(), "r");
  std::array<char, 4096> bytes{};
  while (const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), pipe))
    ended.output.append(bytes.data(), got);
  const int status = pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

// This binary as a program with these flags. `before`: what goes before it on the command line, as `setpriv ...`.
inline Ended program(const std::string& flags, const std::string& before = "") {
  static const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  return command("timeout -k 5 60 " + before + " '" + self + "' program " + flags);
}

}  // namespace lp::test
