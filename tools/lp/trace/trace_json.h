#pragma once
// A trace as JSON in the format of trace events, which Perfetto and chrome://tracing open ("Trace Event Format" of the
// Chromium project). A pure function.
//
// A node is a process of the format, and a thread of it is a thread. Spans of one thread that overlap without lying in
// one another, as calls that are made at the same time do, get further rows below it. A call has its phases inside:
//
//   send     until it is at its callee; this includes a wait for a node that is not up
//   queue    until its handler begins
//   run      until the handler returns
//   open     until the Future that the handler has returned is ready
//   reply    until the reply is at the caller
//
// An arrow leads from it to its handler. Marks become instants, and values counters.

#include <string>

#include "tools/lp/trace/trace.h"

namespace lp::tool {

std::string trace_json(const Trace& trace);

}  // namespace lp::tool
