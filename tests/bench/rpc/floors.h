#pragma once
// Lower bounds for every peer: a copy in memory, and a virtual call. Used by one thread.

#include "tests/bench/rpc/session.h"

namespace lp::bench {

// A service in this process, behind a virtual function.
std::unique_ptr<Session> start_virtual_call();

enum class Copy : std::uint8_t { warm, fresh };  // into memory that was written before, or never

// Microseconds to copy kBulk bytes; the median of `times`.
double copy_micros(Copy copy, int times);

}  // namespace lp::bench
