#pragma once
// Measures the same cases with several peers, in turns, so that disturbances of the machine affect all of them. Used by
// one thread.

#include <functional>
#include <string>
#include <vector>

#include "tests/bench/rpc/affinity.h"
#include "tests/bench/rpc/session.h"

namespace lp::bench {

struct Contestant {
  std::string name{};
  std::function<std::unique_ptr<Session>(Size)> start{};
};

enum class Unit : std::uint8_t { microseconds, calls_per_second, gigabytes_per_second };

// One figure for each peer: its place in the tables, and how it is measured.
struct Case {
  std::string table{};
  std::string column{};
  Unit unit = Unit::microseconds;
  Work work{};
  int callers = 1;
  Pinning pinning = Pinning::unpinned;
};

struct Result {
  std::string table{};
  std::string column{};
  std::string peer{};
  double value = 0;              // the median of `rounds`; 0 when there are none
  double high = 0;               // the median of the rounds' 99th percentiles, if single calls were timed
  std::vector<double> rounds{};  // one value each
  std::string error{};           // why a round is missing
};

// Starts a session of `size` for each contestant, measures `cases` with each, `rounds` times, and ends the sessions. If
// a contestant fails, its session ends at once.
std::vector<Result> measure_section(const std::vector<Contestant>& contestants, Size size,
                                    const std::vector<Case>& cases, int rounds);

double median(std::vector<double> values);

}  // namespace lp::bench
