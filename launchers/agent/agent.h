#pragma once
// The agent of a host: a process of one thread that is the parent of every node process there. It starts, watches,
// reaps and kills them, passes on what they say and print, and dies with its launcher, taking all of them along.
//
// It is a process of its own, also locally, because a child's parent-death signal follows the thread that forked it:
// the agent's only thread lives as long as the agent, whichever thread launched the run. It adopts orphaned
// grandchildren.

#include "lp/base/scheduler.h"

namespace lp::internal {

// Serves the launcher at the other end of `control` until that ends. Returns the exit code of the process.
int run_agent(int control);

// The same for a launcher on another host, at the other end of standard input and output. When nothing is heard of it
// for `lease`, it counts as ended. Returns kForsaken when the launcher has ended while nodes were running, or was not
// heard of.
int run_agent_there(Duration lease);

}  // namespace lp::internal
