#pragma once
// Processes that a test did not start itself, such as the nodes of a run: the test finds them and waits for their end.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "launchers/os/pidfd.h"
#include "launchers/os/spawn.h"
#include "lp/base/scheduler.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {

// A process, watched without being its parent.
class Watched {
 public:
  explicit Watched(int pid) : pid_(pid), fd_(pidfd_open(pid, 0)) {}
  ~Watched() {
    if (fd_ >= 0) close(fd_);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  bool ends_within(Duration duration) const {
    if (fd_ < 0) return true;
    Poller poller;
    poller.add(fd_, 0);
    std::array<Poller::Ready, 1> ready;
    return poller.wait(ready, after(duration)) > 0;
  }
  int pid() const { return pid_; }

 private:
  int pid_;
  int fd_;
};

using AllWatched = std::vector<std::unique_ptr<Watched>>;

inline AllWatched watch(const std::vector<int>& processes) {
  AllWatched watched;
  for (const int process : processes) watched.push_back(std::make_unique<Watched>(process));
  return watched;
}

inline std::string command_line_of(int process) {
  std::string line = contents("/proc/" + std::to_string(process) + "/cmdline");
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

inline void expect_end_within(Duration duration, const AllWatched& processes) {
  const Time end = after(duration);
  for (const auto& process : processes) {
    EXPECT_TRUE(process->ends_within(until(end))) << process->pid() << " " << command_line_of(process->pid());
  }
}

// The processes that carry the mark: see internal::run_mark.
inline std::vector<int> marked(const std::string& mark) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int process = std::atoi(entry.path().filename().c_str());
    if (process > 0 && launch::has_mark(process, mark)) found.push_back(process);
  }
  return found;
}

// The processes of a run on one of its hosts; on all, if none is named.
inline std::vector<int> marked(const std::string& run, const std::string& host) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int process = std::atoi(entry.path().filename().c_str());
    std::istringstream environment(contents("/proc/" + std::to_string(process) + "/environ"));
    for (std::string one; process > 0 && std::getline(environment, one, '\0');) {
      if (one.starts_with(launch::run_mark(run)) && (host.empty() || one.ends_with("@" + host)))
        found.push_back(process);
    }
  }
  return found;
}

}  // namespace lp::test
