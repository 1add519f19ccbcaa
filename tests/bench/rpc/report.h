#pragma once
// The results, for people and as JSON, and the claims that they should meet. A report: nothing fails because of it.

#include <cstdio>
#include <string>
#include <vector>

#include "tests/bench/rpc/section.h"

namespace lp::bench {

// A relation between figures of one run that lp aims for.
struct Claim {
  std::string text{};
  double value = 0;
  double bound = 0;
  bool at_most = true;  // else at least
  bool measured = false;
  bool holds = false;
};

struct Report {
  int cores = 0;
  double load_before = 0;  // in the last minute
  double load_after = 0;
  std::vector<std::string> notes{};
  std::vector<Result> results{};
  std::vector<Claim> claims{};
};

void print(const Report& report, std::FILE* out);

// The end of the name of a peer that records a trace.
inline constexpr const char* kTraced = ", traced";

// The claims, from the results; about what a trace costs.
std::vector<Claim> check_traced(const std::vector<Result>& results);
// The claims, from the results.
std::vector<Claim> check_claims(const std::vector<Result>& results);

}  // namespace lp::bench
