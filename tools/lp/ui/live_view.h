#pragma once
// Shows one run while it goes on, line by line: its state, its nodes, the rates of its calls, and its events. A
// function; any thread.
//
//   {"run":{...}}     the state of the run, and "nodes", in the order of the plan; each second while it is live
//   {"rates":{...}}   what its processes use, and the calls between nodes, each second while it is live
//   {"events":[...]}  the events since the last such line
//   {"trouble":"..."} why there is no newer state

#include "tools/lp/runs.h"
#include "tools/lp/ui/line_sink.h"

namespace lp::tool {

inline constexpr std::size_t kShownEdges = 2000;   // between nodes: those with the most calls
inline constexpr std::size_t kShownEvents = 2000;  // the newest ones

// Writes until the reader has left, also when the run has ended: a job may begin again.
void show_live(const RunLocation& place, LineSink& out);

}  // namespace lp::tool
