#pragma once
// Describes a run in words for tables, and as JSON. Pure functions, except that the age needs the time.

#include <string>
#include <string_view>
#include <vector>

#include "lp/base/json.h"
#include "tools/lp/runs.h"

namespace lp::tool {

// "45s", "12m", "3h", "5d": a duration of any length.
std::string short_duration(double seconds);
// The time since the run began, or its whole duration.
std::string age_text(const RunView& run);
// "3/4": the nodes that serve or have done their work, and all nodes; empty before the run has begun.
std::string ready_text(const RunStatus& status);
// Whether the nodes of the run have ended, with a result or without one.
bool is_over(const RunView& run);
// How many nodes of an ended run had which end: "1 failed, 3 ended with the run"; empty while the run lives.
std::string ends_text(const RunView& run);
// An SGR code: green for a good end, yellow for a stop, red for a bad one; empty while the run lives.
std::string colour_of(const RunView& run);
std::string colour_of(NodeStatus::State state);

// "2026-01-31 23:59:59", in the time zone of this machine, of seconds since 1970.
std::string local_time(double seconds);
// A command line with quotes, so that a shell accepts it again.
std::string command_text(const std::vector<std::string>& words);

// The troubles of a run that goes on: services that take no call, and a run in which nothing moves.
std::vector<std::string> troubles_of(const RunView& run);

// Writes one object: name, directory, state, outcome, and the contents of the files. `trouble`: why they could not be
// read.
void write_run(JsonWriter& json, const RunView& run, std::string_view trouble = {});

}  // namespace lp::tool
