#pragma once
// A run in words, for tables, and as JSON. Pure functions but for the age, which knows the time.

#include <string>
#include <string_view>
#include <vector>

#include "lp/base/json.h"
#include "tools/lp/runs.h"

namespace lp::tool {

// "45s", "12m", "3h", "5d": of whatever length.
std::string short_duration(double seconds);
// Since the run began, or how long it took.
std::string age_text(const RunView& run);
// "3/4": nodes that serve, or have done their work, of all; empty before the run has begun.
std::string ready_text(const RunStatus& status);
// An SGR code: green for a good end, yellow for a stop, red for a bad one; empty while it runs.
std::string colour_of(const RunView& run);
std::string colour_of(NodeStatus::State state);

// What a person should know of a run that goes on: services that take no call, and that nothing moves.
std::vector<std::string> troubles_of(const RunView& run);

// One object: name, directory, state, outcome, and what the files say. `trouble`: why they could not be read.
void write_run(JsonWriter& json, const RunView& run, std::string_view trouble = {});

}  // namespace lp::tool
