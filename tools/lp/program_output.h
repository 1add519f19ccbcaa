#pragma once
// Another program, asked for what it prints. Functions.

#include <optional>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp::tool {

struct ProgramOutput {
  int code = 0;        // 128 and more: a signal ended it
  std::string text{};  // its standard output; with `errors`, its standard error too
};

// Runs a program that PATH finds, with nothing to read, and waits until it ends. Nothing when there is no such program;
// one that takes longer than `patience` is killed, and has the code 124.
std::optional<ProgramOutput> output_of(std::vector<std::string> command, Duration patience, bool errors);

}  // namespace lp::tool
