#pragma once
// A map-reduce whose functions end or stop their process, which the tests of this folder launch as processes.

#include <cstdint>
#include <string>

#include "launchers/programs.h"
#include "lp/program/program.h"

namespace lp::test {

struct JobConfig {
  std::string folder{};  // has the folder "input"; "output" is made in it
  std::string mode{};    // "segfaults", "throws", "stops once": map on the line "bad"; "reduce aborts"
  std::uint64_t skip_records = 0;
  int restarts = 3;
};

// Counts the words of the lines that are not bad.
Program make_job(const JobConfig& config);

const Programs& programs();

}  // namespace lp::test
