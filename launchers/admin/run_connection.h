#pragma once
// The connection to a run's admin socket on this host. A function without state; any thread.

#include <filesystem>

#include "lp/base/descriptor.h"

namespace lp::launch {

// Connects to the socket of the run in `directory`. Returns none when no run serves there.
Descriptor connect_to_run(const std::filesystem::path& directory);

}  // namespace lp::launch
