#pragma once
// For tests that start this binary as a person would start a program: see entry_test.cc. Owned by the test; one thread.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"
#include "tests/directory.h"
#include "tests/launchers/subprocess.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {

class MainTest : public testing::Test {
 protected:
  MainTest() { setenv("XDG_STATE_HOME", directory_.c_str(), 1); }

  // For the next run, in a directory of its own.
  std::vector<std::string> arguments(std::vector<std::string> flags) {
    flags.insert(flags.begin(),
                 {"program", "--directory=" + (directory_ / ("run" + std::to_string(++runs_))).string()});
    return flags;
  }

  // The flag for a configuration file with this text.
  std::string configuration(const std::string& yaml) const {
    std::ofstream(directory_ / "c.yaml") << yaml;
    return "--config=" + (directory_ / "c.yaml").string();
  }

  // Waits until the first run has this cut.
  void wait_for_cut(int step) const {
    const std::string event = "the checkpoint of step " + std::to_string(step) + " is complete";
    Event never;
    for (const Time end = after(std::chrono::seconds(30)); now() < end;) {
      if (contents(directory_ / "run1" / "events.log").find(event) != std::string::npos) return;
      never.wait(after(std::chrono::milliseconds(20)));
    }
    ADD_FAILURE() << "there was no checkpoint of step " << step;
  }

  const Directory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
  int runs_ = 0;
};

inline std::string with_processes() { return "--launch=processes"; }

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace lp::test
