#pragma once
// What the end of a process's standard error tells of its death: the backtrace of a crash, a sanitizer's finding, and
// the last lines before them. A pure function.

#include <string>
#include <vector>

#include "launchers/record/status.h"

namespace lp::internal {

// Adds to the cause what its process wrote last, oldest line first. Of a sanitizer's report the cause gets its summary
// and its first stack; the rest stands in the log.
void add_last_words(std::vector<std::string> lines, Cause& cause);

}  // namespace lp::internal
