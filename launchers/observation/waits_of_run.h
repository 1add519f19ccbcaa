#pragma once
// Joins the answers of a run's processes about their waits. A pure function.

#include <cstddef>
#include <map>

#include "launchers/control/measurement.h"
#include "launchers/control/waits_record.h"
#include "launchers/supervisor/supervision_graph.h"

namespace lp::launch {

// `parts` has the answer, or what has come of it, of each process that was asked.
WaitsRecord waits_of_run(const SupervisionGraph& graph, RunStatus status,
                         const std::map<std::size_t, Measurement>& parts);

}  // namespace lp::launch
