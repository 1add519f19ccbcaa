#pragma once
// The lines of the live view, from what a run answers. Pure functions.

#include <span>
#include <string>

#include "launchers/record/records.h"
#include "lp/program/plan.h"
#include "tools/lp/rates.h"
#include "tools/lp/runs.h"

namespace lp::tool {

std::string run_line(const RunView& run);
// It has at most `most` edges between nodes: those with the most calls.
std::string rates_line(const Plan& plan, const Rates& rates, const RunStatus& status, std::size_t most);
std::string events_line(std::span<const RunEvent> events);
std::string trouble_line(const std::string& trouble);

}  // namespace lp::tool
