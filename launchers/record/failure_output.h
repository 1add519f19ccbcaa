#pragma once
// Finds the reason for a process's death at the end of its standard error: the backtrace of a crash, a sanitizer's
// finding, and the last lines before them. A pure function.

#include <string>
#include <vector>

#include "launchers/record/status.h"

namespace lp::launch {

// Adds the last lines that the process wrote, oldest first, to the cause, without the error that the cause has already.
// From a sanitizer's report the cause gets the summary and the first stack; the log keeps the rest.
void add_failure_output(std::vector<std::string> lines, Cause& cause);

}  // namespace lp::launch
