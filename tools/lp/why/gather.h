#pragma once
// Gathers what `lp why` explains from a live run, and writes what it finds as JSON. Functions.

#include <set>
#include <string>
#include <vector>

#include "launchers/admin/admin_client.h"
#include "launchers/observation/wait_graph.h"
#include "lp/base/json.h"
#include "lp/base/scheduler.h"
#include "tools/lp/why/diagnosis.h"

namespace lp::tool {

// Looks at the run several times during `duration`. Throws CommandError as ask() does.
Evidence collect_evidence(launch::AdminClient& client, Plan plan, Duration duration);

// Diagnoses the evidence. Where a replica seems to be a straggler, it looks at the run again, for some seconds.
std::vector<Diagnosis> find_troubles(launch::AdminClient& client, const Evidence& evidence);

// Writes members of the current object: the diagnoses, and the activities of the nodes in `shown`.
void write_findings(JsonWriter& json, const WaitGraph& graph, const std::vector<Diagnosis>& found,
                    const std::set<std::string>& shown);

}  // namespace lp::tool
