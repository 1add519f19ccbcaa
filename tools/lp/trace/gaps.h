#pragma once
// Puts the gaps of a trace into words for people. Pure functions.

#include <string>
#include <vector>

#include "tools/lp/trace/trace.h"

namespace lp::tool {

// "a", "a and b", "a, b and c"; of many names the first ones, and how many more there are.
std::string names_text(const std::vector<std::string>& names);

// A sentence for each gap. Times count from the beginning of the file, as viewers show them.
std::vector<std::string> gap_texts(const Trace& trace);

}  // namespace lp::tool
