// rpc_bench: the cost of calls with lp and with its peers, measured in one run. The tables go to standard output, or
// with --json to standard error beside the JSON.

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/config/parse_flags.h"
#include "tests/bench/rpc/floors.h"
#include "tests/bench/rpc/lp_peer.h"
#include "tests/bench/rpc/plan.h"
#include "tests/bench/rpc/process.h"
#include "tests/bench/rpc/raw_peers.h"
#include "tests/bench/rpc/report.h"

namespace lp::bench {
namespace {

struct Flags {
  std::string config{};
  bool quick = false;
  bool json = false;

  static constexpr auto fields =
      lp::fields(lp::field("config", "YAML file with values for these flags"),
                 lp::field("quick", "little of everything: seconds, to see that it works"),
                 lp::field("json", "print one object of JSON on standard output, the tables on standard error"));
};

struct Entry {
  Contestant contestant;
  enum Skill : int { round_trips, pulls, pipelines } skill = pipelines;  // its abilities; each includes all before it
};

// lp twice on each path, without a trace and with one.
std::vector<Entry> traced_entries(const Plan& plan) {
  std::vector<Entry> all;
  for (const auto& [name, path] :
       {std::pair("lp direct", Path::direct), {"lp shm", Path::shm}, {"lp tcp", Path::tcp}}) {
    for (const bool traced : {false, true}) {
      all.push_back({{std::string(name) + (traced ? kTraced : ""),
                      [path = path, traced](Size size) { return start_lp(path, size, traced); }},
                     path == Path::direct ? Entry::round_trips : Entry::pipelines});
    }
  }
  std::erase_if(all, [&](const Entry& one) { return one.contestant.name.find(plan.peers) == std::string::npos; });
  return all;
}

std::vector<Entry> entries(const Plan& plan) {
  if (plan.trace) return traced_entries(plan);
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto processes = [](const std::string& binary, const std::string& name) {
    return Contestant{name, [=](Size size) { return start_processes(binary, name, size); }};
  };
  const auto lp = [](const std::string& name, Path path) {
    return Contestant{name, [=](Size size) { return start_lp(path, size); }};
  };
  std::vector<Entry> all{{{"virtual call", [](Size) { return start_virtual_call(); }}, Entry::round_trips},
                         {lp("lp direct", Path::direct), Entry::round_trips},
                         {processes(self, "futex"), Entry::round_trips},
                         {processes(self, "unix socket"), Entry::pulls},
                         {processes(self, "tcp socket"), Entry::pulls},
                         {processes(self, "zeromq tcp")}};
  if (!plan.grpc.empty()) {
    for (const char* name : {"grpc unix", "grpc tcp"}) all.push_back({processes(plan.grpc, name)});
  }
  if (has_shared_memory()) all.push_back({lp("lp shm", Path::shm)});
  all.push_back({lp("lp tcp", Path::tcp)});
  all.push_back({lp("lp curve", Path::curve)});
  std::erase_if(all, [&](const Entry& one) { return one.contestant.name.find(plan.peers) == std::string::npos; });
  return all;
}

std::vector<Contestant> with_skill(const std::vector<Entry>& entries, Entry::Skill skill) {
  std::vector<Contestant> result;
  for (const Entry& one : entries) {
    if (one.skill >= skill) result.push_back(one.contestant);
  }
  return result;
}

std::vector<Contestant> those_that_publish(const std::vector<Entry>& entries) {
  std::vector<Contestant> result;
  for (const Entry& one : entries) {
    if (one.contestant.name == "lp direct" || one.contestant.name == "lp shm") result.push_back(one.contestant);
  }
  return result;
}

std::vector<Result> copies(const Plan& plan) {
  std::vector<Result> results;
  for (const auto& [copy, name] : {std::pair(Copy::warm, "memcpy, warm"), {Copy::fresh, "memcpy, fresh"}}) {
    results.push_back({.table = kPull, .column = kIntoBuffer, .peer = name});
    for (int round = 0; round < plan.rounds; ++round) {
      results.back().rounds.push_back(static_cast<double>(kBulk) / copy_micros(copy, 5) / 1e3);
    }
    results.back().value = median(results.back().rounds);
  }
  return results;
}

double load() {
  double average = 0;
  return getloadavg(&average, 1) == 1 ? average : 0;
}

Report run(const Plan& plan) {
  Report report{.cores = static_cast<int>(cores().size()), .load_before = load()};
  if (plan.grpc.empty()) report.notes.push_back("gRPC is not measured: rpc_bench_grpc was not built or not named");
  const std::vector<Entry> all = entries(plan);
  const auto add = [&](const std::vector<Result>& results) {
    report.results.insert(report.results.end(), results.begin(), results.end());
  };
  const auto measure = [&](Entry::Skill skill, Size size, const std::vector<Case>& cases) {
    if (!cases.empty()) add(measure_section(with_skill(all, skill), size, cases, plan.rounds));
  };
  measure(Entry::round_trips, {}, latency_cases(plan));
  if (!pull_cases(plan).empty() && !plan.trace) add(copies(plan));
  measure(Entry::pulls, {}, pull_cases(plan));
  if (!read_cases(plan).empty()) add(measure_section(those_that_publish(all), {}, read_cases(plan), plan.rounds));
  measure(Entry::pipelines, {.callers = std::ranges::max(plan.callers)}, rate_cases(plan));
  measure(Entry::pulls, {.services = plan.services}, fan_out_cases(plan));
  report.load_after = load();
  report.claims = plan.trace ? check_traced(report.results) : check_claims(report.results);
  return report;
}

int measure_and_print(int argc, char** argv) {
  const bool quick = std::ranges::find(argv, argv + argc, std::string_view("--quick")) != argv + argc;
  Plan plan = quick ? kQuick : Plan();
  Flags flags;
  const CommandLine line = parse(argc, argv, bind(plan), bind(flags));
  if (!line.help.empty()) {
    std::printf("%s", line.help.c_str());
    return 0;
  }
  const Report report = run(plan);
  print(report, flags.json ? stderr : stdout);
  if (flags.json) std::printf("%s\n", to_json(report).c_str());
  const auto failed = [](const Result& result) { return !result.error.empty(); };
  return std::ranges::any_of(report.results, failed) ? 1 : 0;
}

}  // namespace
}  // namespace lp::bench

int main(int argc, char** argv) {
  using namespace lp::bench;  // NOLINT: a main of a benchmark
  lp::Programs programs;
  add_program(programs);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  const std::vector<Peer> peers{futex_peer(), unix_peer(), tcp_peer(), zeromq_peer()};
  if (const auto code = become_peer_if_asked(argc, argv, peers)) return *code;
  try {
    return measure_and_print(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rpc_bench: %s\n", error.what());
    return 2;
  }
}
