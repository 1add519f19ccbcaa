#pragma once
// The engines that the tests of launchers know, and those in which each common test runs.

#include <array>
#include <string>

#include "launchers/all_engines.h"
#include "tests/launchers/local/engine_for_test.h"

namespace lp::test {

// Those of lp, and `local`.
const launch::Engines& test_engines();

// The engines that need nothing but this host.
inline constexpr std::array kEnginesHere{LaunchType::threads, LaunchType::processes, kLocal};

// "Threads", for the name of a test.
inline std::string test_name(LaunchType type) {
  std::string name(type.name());
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return name;
}

}  // namespace lp::test
