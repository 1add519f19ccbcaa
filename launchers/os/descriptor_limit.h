#pragma once
// Limits of this host that a run may reach. Functions without state; any thread.

#include <cstddef>
#include <cstdint>

namespace lp::launch {

// Raises this process's soft limit of open files to the hard limit. Returns the limit that now holds.
std::uint64_t raise_descriptor_limit();

// Throws Error, with the remedy, when this process and its agent cannot have the descriptors for `processes` node
// processes.
void check_descriptors(std::size_t processes, std::uint64_t limit);

}  // namespace lp::launch
