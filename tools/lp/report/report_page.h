#pragma once
// The report of a run: one page in HTML that needs no other file, no script and no network. A pure function.

#include <string>

#include "tools/lp/report/run_history.h"

namespace lp::tool {

std::string report_page(const RunHistory& history);

}  // namespace lp::tool
