#pragma once
// The common part of tests that launch programs: files that are read, commands whose output and exit code they read,
// and how this binary's own programs are launched as processes.

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "launchers/admin/admin_client.h"
#include "launchers/run.h"
#include "lp/base/scheduler.h"
#include "lp/config/config_yaml.h"
#include "tests/directory.h"

namespace lp::test {

inline std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Ended {
  int code = -1;  // 124 if it did not end within a minute; more than 128: by a signal
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

// This binary as a program with these flags. `before` is put before it on the command line, as `setpriv ...`.
inline Ended program(const std::string& flags, const std::string& before = "") {
  static const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  return command("timeout -k 5 60 " + before + " '" + self + "' program " + flags);
}

// Has a node of the run in `directory` restarted, as `lp restart` does. Returns the run's answer.
inline std::string restart_node(const std::filesystem::path& directory, const std::string& node) {
  const Time end = after(std::chrono::seconds(30));
  launch::AdminClient client(directory);
  client.ask(R"({"ask":"restart","node":")" + node + "\"}", end);
  return client.next(end).value_or("nothing");
}

// How to launch, as processes, the program that this binary's main() has under the name `entry`.
template <class Config>
LaunchOptions processes(const Config& config, const std::string& entry = "program") {
  LaunchOptions options;
  options.launch = LaunchType::processes;
  options.entry = entry;
  options.configuration = to_yaml(config);
  return options;
}

}  // namespace lp::test
