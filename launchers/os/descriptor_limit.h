#pragma once
// Limits of this host that a run may meet. Functions without state; any thread.

#include <cstddef>
#include <cstdint>

namespace lp::internal {

// Raises the soft limit of open files of this process to the hard one. Returns the limit that now holds.
std::uint64_t raise_descriptor_limit();

// Throws Error, with what to do, when this process and its agent cannot have the descriptors for so many node
// processes.
void check_descriptors(std::size_t processes, std::uint64_t limit);

}  // namespace lp::internal
