#pragma once
// The agent of a host: a process of one thread that is the parent of every node process there. It starts, watches,
// reaps and kills them, and forwards their messages and their output. When its launcher ends, it ends with all of them.
//
// The agent is a process of its own, also on the launcher's host, because a child's parent-death signal follows the
// thread that forked it. The agent's only thread lives as long as the agent, whichever thread launched the run. The
// agent adopts orphaned grandchildren.

#include "lp/base/scheduler.h"

namespace lp::launch {

// Serves the launcher at the other end of `control` until the launcher ends. Returns the exit code of the process.
int run_agent(int control);

// Serves a launcher on another host at the other end of standard input and output. A launcher that is silent for
// `lease` counts as ended. Returns kForsaken when the launcher has ended while nodes were running, or was silent.
int run_agent_there(Duration lease);

}  // namespace lp::launch
