#pragma once
// A further thread of a node, for what goes on beside its run() and its handlers. May be started from any thread.

#include <string>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp {

// Starts `body`, which must not throw, in a thread of the node whose code calls this: a stop of the node ends what the
// thread waits for, and what it calls comes from the node. To be joined before the node ends. Outside all nodes it is a
// thread like any other. Throws Error::failed when the system has no thread left.
Thread spawn_in_node(std::string name, Function<void()> body);

}  // namespace lp
