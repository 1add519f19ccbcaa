#pragma once
// Sends a request to a live run and reads its answer. Functions.

#include <string>

#include "launchers/admin/admin_client.h"
#include "launchers/control/measurement.h"
#include "lp/base/json_value.h"
#include "tools/lp/runs.h"

namespace lp::tool {

// Connects to the run on the host of its launcher. The client is not open when no launcher serves there.
launch::AdminClient try_to_connect(const RunView& run);
// Connects to the run. Throws CommandError: (not_live), with the state of the run, when no launcher serves there, and
// (timed_out) when its launcher is suspended or blocked.
launch::AdminClient connect_to(const RunView& run);

inline constexpr Duration kAnswerTimeout = std::chrono::seconds(10);

// The answer to a request. Throws CommandError: (failed) with the run's error, (timed_out) when it does not answer
// within `patience`, (not_live) when it ends instead.
JsonValue ask(launch::AdminClient& client, const std::string& request, Duration patience = kAnswerTimeout);

// The resources and the calls of the run at this moment. Throws CommandError as ask() does.
MeasureRecord measure(launch::AdminClient& client);

// Waits for the duration. Returns false when the run has ended meanwhile.
bool wait_between(launch::AdminClient& client, Duration duration);

}  // namespace lp::tool
