#pragma once
// Runs another program and returns its output. Functions.

#include <optional>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp::tool {

struct ProgramOutput {
  int code = 0;        // 128 and more: a signal ended it
  std::string text{};  // its standard output; with `errors`, its standard error too
};

// Runs a program that PATH finds, without input, and waits until it ends. Returns nothing when there is no such
// program. A program that takes longer than `patience` is killed, and has the code 124.
std::optional<ProgramOutput> output_of(std::vector<std::string> command, Duration patience, bool errors);

}  // namespace lp::tool
