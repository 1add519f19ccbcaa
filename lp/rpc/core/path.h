#pragma once
// How calls reach a node. A value.

#include <cstdint>

namespace lp {

// By itself lp takes the nearest: on the caller's stack within a process, by shared memory within a host and network
// namespace, by TCP else. A test may ask for just one of them.
enum class Path : std::uint8_t { nearest, direct, shm, tcp };

}  // namespace lp
