#pragma once
// The way by which calls reach a node. A value.

#include <cstdint>

namespace lp {

// By default lp takes the nearest way: on the caller's stack within a process, by shared memory within a host and
// network namespace, otherwise by TCP. A test may ask for just one of them.
enum class Path : std::uint8_t { nearest, direct, shm, tcp };

}  // namespace lp
