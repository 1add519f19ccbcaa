#pragma once
// For tests of the lp command: running programs, and lp itself, as a person would start both. Runs are kept below a
// directory of the test. Owned by the test; one thread.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/directory.h"
#include "tests/launchers/on_terminal.h"
#include "tests/launchers/subprocess.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {

class LpTest : public testing::Test {
 protected:
  LpTest() {
    setenv("XDG_STATE_HOME", state_.path().c_str(), 1);
    setenv("COLUMNS", "80", 1);
  }

  std::filesystem::path runs() const { return state_.path() / "lp/runs"; }

  // A program whose workers wait until they are stopped; it is ready when its standard error has "waiting".
  static std::vector<std::string> waiting(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"program", "--launch=processes", "--mode=says that it waits"});
    return flags;
  }

  // Waits until the newest run runs; a node may print before all of them are ready.
  static void wait_until_running() {
    while (!has(lp("list").output, " running ")) {
    }
  }

  // lp with these words of the shell.
  static Ended lp(const std::string& words) { return command("timeout -k 5 60 '" LP_COMMAND "' " + words); }
  static OnTerminal on_terminal(std::vector<std::string> words) { return OnTerminal(std::move(words), LP_COMMAND); }

  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

 private:
  const Directory state_;
};

}  // namespace lp::test
