#pragma once
// Runs a command to its end and returns what it has printed. Functions; any thread may call them, and it waits in them.
//
// A command is a list of words: the program, which PATH finds, and its arguments. No shell reads them. It has no input,
// and a process group of its own: Ctrl-C on the terminal does not reach it. To talk to a command while it runs, use
// spawn_command() of spawn.h.

#include <string>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp::launch {

// The end of a command, and its output.
struct Output {
  static constexpr int kTimedOut = 124;    // it was killed at its time limit
  static constexpr int kNotStarted = 127;  // it could not be started: most often there is no such program

  int code = 0;          // its exit code; above 128, a signal has ended it
  std::string text{};    // from its standard output
  std::string errors{};  // from its standard error; if it timed out or was not started, the reason in words
};

// Runs the command, and kills it and all that it has started if it takes longer than `limit`. Every end is reported in
// the result; this function throws nothing.
Output run(const std::vector<std::string>& command, Duration limit);

// Does the same, but throws Error with the command's own message if its exit code is not 0:
// "sbatch: error: invalid partition".
Output run_or_throw(const std::vector<std::string>& command, Duration limit);

// Splits a command that a person has given as one text: "kubectl --context=test". Spaces separate its words; there are
// no quotes.
std::vector<std::string> split_command(const std::string& text);

}  // namespace lp::launch
