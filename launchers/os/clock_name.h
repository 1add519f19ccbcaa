#pragma once
// The name of this process's monotonic clock. Any thread.

#include <string>

namespace lp::launch {

// Processes with the same name read the same clock: they have the same kernel, since the same boot, and the same time
// namespace.
std::string clock_name();

}  // namespace lp::launch
