#include "tests/bench/rpc/plan.h"

#include <utility>

namespace lp::bench {
namespace {

std::string bytes_text(std::uint64_t size) {
  if (size >= std::uint64_t{1} << 20) return std::to_string(size >> 20) + " MiB";
  return size >= 1024 ? std::to_string(size >> 10) + " KiB" : std::to_string(size) + " B";
}

// A trace lasts seconds: what a thread records in one go when it begins may not count for more than it does there.
constexpr double kTraceTimes = 10;

std::int64_t duration(const Plan& plan, double times = 1) {
  return static_cast<std::int64_t>(times * plan.milliseconds * (plan.trace ? kTraceTimes : 1) * 1e6);
}

std::vector<Case> of_tables(std::vector<Case> cases, const std::string& tables) {
  std::erase_if(cases, [&](const Case& one) { return one.table.find(tables) == std::string::npos; });
  return cases;
}

}  // namespace

std::string round_trip_table(Pinning pinning) { return "round trip, microseconds, " + text(pinning); }

std::vector<Case> latency_cases(const Plan& plan) {
  std::vector<Case> cases;
  for (const Pinning pinning : {Pinning::one_core, Pinning::two_cores, Pinning::unpinned}) {
    for (const std::uint64_t size : plan.sizes) {
      cases.push_back({.table = round_trip_table(pinning),
                       .column = bytes_text(size),
                       .work = {.size = size, .duration = duration(plan)},
                       .pinning = pinning});
    }
  }
  return of_tables(std::move(cases), plan.tables);
}

std::vector<Case> pull_cases(const Plan& plan) {
  std::vector<Case> cases;
  for (const auto& [kind, column] : {std::pair(Kind::pull, kAsArray), {Kind::pull_into, kIntoBuffer}}) {
    cases.push_back({.table = kPull,
                     .column = column,
                     .unit = Unit::gigabytes_per_second,
                     .work = {.kind = kind, .duration = duration(plan, 8)}});
  }
  return of_tables(std::move(cases), plan.tables);
}

std::vector<Case> read_cases(const Plan& plan) {
  return of_tables({{.table = kRead, .column = kInPlace, .work = {.kind = Kind::read, .duration = duration(plan)}}},
                   plan.tables);
}

std::vector<Case> rate_cases(const Plan& plan) {
  std::vector<Case> cases;
  for (const int callers : plan.callers) {
    for (const std::uint64_t window : plan.windows) {
      cases.push_back({.table = kPipelined,
                       .column = std::to_string(callers) + " x " + std::to_string(window),
                       .unit = Unit::calls_per_second,
                       .work = {.kind = Kind::pipelined, .window = window, .duration = duration(plan, 5)},
                       .callers = callers});
    }
  }
  return of_tables(std::move(cases), plan.tables);
}

std::vector<Case> fan_out_cases(const Plan& plan) {
  return of_tables({{.table = kFanOut,
                     .column = std::to_string(plan.services) + " services",
                     .work = {.kind = Kind::fan_out, .duration = duration(plan, 5)}}},
                   plan.tables);
}

}  // namespace lp::bench
