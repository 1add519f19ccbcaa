#pragma once
// A question to a live run, and its answer. Functions.

#include <string>

#include "launchers/admin/admin_client.h"
#include "launchers/control/measurement.h"
#include "lp/base/json_value.h"
#include "tools/lp/runs.h"

namespace lp::tool {

// Connects to the run, wherever its launcher is; not open when nobody serves there.
internal::LiveClient try_to_connect(const RunView& run);
// Connects to the run. Throws Refusal(not_live), saying what became of it, when nobody serves there.
internal::LiveClient connect_to(const RunView& run);

// The answer to a request. Throws Refusal: (failed) with what the run refuses, (timed_out) when it does not answer,
// (not_live) when it ends instead.
JsonValue ask(internal::LiveClient& client, const std::string& request);

// What the run uses and calls at the moment. Throws Refusal as ask() does.
MeasureRecord measure(internal::LiveClient& client);

// Waits so long; false when the run has ended meanwhile.
bool wait_between(internal::LiveClient& client, Duration duration);

}  // namespace lp::tool
