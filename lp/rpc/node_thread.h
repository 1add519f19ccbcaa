#pragma once
// A further thread of a node, for work beside its run() and its handlers. Any thread may start it.

#include <string>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp {

// Starts `body`, which must not throw, in a further thread of the calling code's node. A stop of the node ends the
// waits of that thread, and its calls come from the node. Join the thread before the node ends. Outside all nodes it is
// a thread like any other. Throws Error::failed when the system has no thread left.
Thread spawn_in_node(std::string name, Function<void()> body);

}  // namespace lp
