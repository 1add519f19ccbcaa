#pragma once
// lp itself as a peer: a program with services and callers, launched like any other.

#include "launchers/programs.h"
#include "tests/bench/rpc/session.h"

namespace lp::bench {

enum class Path : std::uint8_t { direct, shm, tcp, curve };  // curve: TCP, encrypted

// Whether the launch options can switch shared memory between processes.
bool has_shared_memory();

// For become_node_if_asked.
void add_program(Programs& programs);

// Starts the program; every node serves when this returns. With `traced`, a trace is recorded while something is
// measured, as `lp trace` does. Throws Error.
std::unique_ptr<Session> start_lp(Path path, Size size, bool traced = false);

}  // namespace lp::bench
