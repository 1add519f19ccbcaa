#pragma once
// The cores on which processes run. From any thread.

#include <cstdint>
#include <string>
#include <vector>

namespace lp::bench {

enum class Pinning : std::uint8_t { one_core, two_cores, unpinned };

// "one core", "two cores", "unpinned"
std::string text(Pinning pinning);

// The cores that this process may use.
std::vector<int> cores();

// Pins every thread of these processes: both to one of `cores`, callers to one and services to another, or to all.
void pin(const std::vector<int>& services, const std::vector<int>& callers, Pinning pinning,
         const std::vector<int>& cores);

}  // namespace lp::bench
