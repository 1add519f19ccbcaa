#pragma once
// The plan of a measurement: the flags of rpc_bench, and the cases that follow from them. Values.

#include <cstdint>
#include <string>
#include <vector>

#include "lp/config/config.h"
#include "tests/bench/rpc/section.h"

namespace lp::bench {

struct Plan {
  int rounds = 5;
  double milliseconds = 60;
  std::vector<std::uint64_t> sizes{64, 1024, 65536, kLargest};
  std::vector<int> callers{1, 8, 64};
  std::vector<std::uint64_t> windows{1, 64, 1024};
  int services = 64;
  std::string peers{};
  std::string tables{};
  std::string grpc{};
  bool trace = false;

  static constexpr auto fields = lp::fields(
      lp::field("rounds", "how often everything is measured; the median counts", at_least(1)),
      lp::field("milliseconds",
                "of a latency in a round; other work takes some of these, and --trace takes ten times as long",
                positive),
      lp::field("sizes", "bytes of the round trips", range(1, kLargest)),
      lp::field("callers", "that call one service, pipelined", range(1, 1000)),
      lp::field("windows", "calls that a pipelining caller has on their way", at_least(1)),
      lp::field("services", "that one caller calls, in a fan-out", range(1, 1000)),
      lp::field("peers", "only those whose names contain this"),
      lp::field("tables", "only those whose titles contain this"),
      lp::field("grpc", "the binary rpc_bench_grpc; without it, gRPC is left out"),
      lp::field("trace", "only lp, without a trace and while one is recorded"));
};

// Seconds instead of minutes, as a check that everything works.
inline const Plan kQuick{
    .rounds = 1, .milliseconds = 5, .sizes = {64, kLargest}, .callers = {1, 2}, .windows = {1, 16}, .services = 4};

// The cases of each section, limited to the tables of plan.tables.
std::vector<Case> latency_cases(const Plan& plan);
std::vector<Case> pull_cases(const Plan& plan);
std::vector<Case> read_cases(const Plan& plan);
std::vector<Case> rate_cases(const Plan& plan);
std::vector<Case> fan_out_cases(const Plan& plan);

// The titles of the tables.
std::string round_trip_table(Pinning pinning);
inline constexpr const char* kPipelined = "pipelined 64 B calls/s, callers x window";
inline constexpr const char* kPull = "64 MiB pull, GB/s";
inline constexpr const char* kRead = "64 MiB read of a published version, microseconds";
inline constexpr const char* kInPlace = "in place";  // its column
inline constexpr const char* kFanOut = "fan-out, microseconds for one call to each service";
inline constexpr const char* kAsArray = "as an array";  // columns of kPull
inline constexpr const char* kIntoBuffer = "into buffer";

}  // namespace lp::bench
