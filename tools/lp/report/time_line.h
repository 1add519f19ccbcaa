#pragma once
// Draws the time of a run: the critical path, and below it a row for each node that shows when it worked, waited and
// was down, and when it failed. Of very many nodes, a row shows a group. Pure functions.

#include <string>
#include <vector>

#include "tools/lp/report/run_history.h"

namespace lp::tool {

// An element of a page in HTML that has the style sheet of report_page().
std::string time_line(const RunHistory& history, const std::vector<PathPart>& path);

// "0.25 s", "12 min", "3 h": a time after the beginning of a run.
std::string time_text(double seconds);

}  // namespace lp::tool
