// rpc_bench [--quick] [--json]: what calls cost with lp and with its peers, measured in one run. The table goes to
// standard output, or with --json to standard error beside the JSON.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "lp/base/json.h"
#include "tests/bench/rpc/floors.h"
#include "tests/bench/rpc/lp_peer.h"
#include "tests/bench/rpc/process.h"
#include "tests/bench/rpc/raw_peers.h"
#include "tests/bench/rpc/report.h"

namespace lp::bench {
namespace {

namespace fs = std::filesystem;

// How much is measured.
struct Plan {
  int rounds = 5;
  std::int64_t milliseconds = 60;  // of a latency in a round; other work takes some of these
  std::vector<std::uint64_t> sizes{64, 1024, 65536, kLargest};
  std::vector<int> callers{1, 8, 64};
  std::vector<std::uint64_t> windows{1, 64, 1024};
  int services = 64;  // of a fan-out
};
const Plan kQuick{
    .rounds = 1, .milliseconds = 5, .sizes = {64, kLargest}, .callers = {1, 2}, .windows = {1, 16}, .services = 4};

Contestant process_peer(const fs::path& binary, const std::string& name) {
  return {.name = name, .start = [=](Size size) { return start_processes(binary, name, size); }};
}
Contestant lp_peer(const std::string& name, Path path) {
  return {.name = name, .start = [=](Size size) { return start_lp(path, size); }};
}

std::string bytes_text(std::uint64_t size) {
  if (size >= std::uint64_t{1} << 20) return std::to_string(size >> 20) + " MiB";
  return size >= 1024 ? std::to_string(size >> 10) + " KiB" : std::to_string(size) + " B";
}

std::vector<Case> latencies(const Plan& plan) {
  std::vector<Case> cases;
  for (const Pinning pinning : {Pinning::one_core, Pinning::two_cores, Pinning::unpinned}) {
    for (const std::uint64_t size : plan.sizes) {
      cases.push_back({.table = round_trip_table(pinning),
                       .column = bytes_text(size),
                       .work = {.size = size, .duration = plan.milliseconds * 1'000'000},
                       .pinning = pinning});
    }
  }
  return cases;
}

std::vector<Case> rates(const Plan& plan) {
  std::vector<Case> cases;
  for (const int callers : plan.callers) {
    for (const std::uint64_t window : plan.windows) {
      cases.push_back({.table = kPipelined,
                       .column = std::to_string(callers) + " x " + std::to_string(window),
                       .unit = Unit::calls_per_second,
                       .work = {.kind = Kind::pipelined, .window = window, .duration = plan.milliseconds * 5'000'000},
                       .callers = callers});
    }
  }
  return cases;
}

std::vector<Result> copies(const Plan& plan) {
  std::vector<Result> results;
  for (const auto& [copy, name] : {std::pair(Copy::warm, "memcpy, warm"), {Copy::fresh, "memcpy, fresh"}}) {
    results.push_back({.table = kPull, .column = "GB/s", .peer = name});
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
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const fs::path grpc = self.parent_path() / "rpc_bench_grpc";
  Report report{.cores = static_cast<int>(cores().size()), .load_before = load()};

  std::vector<Contestant> pipelined{process_peer(self, "zeromq tcp")};
  if (fs::exists(grpc)) {
    for (const char* name : {"grpc unix", "grpc tcp"}) pipelined.push_back(process_peer(grpc, name));
  } else {
    report.notes.push_back("gRPC: not measured, rpc_bench_grpc is not built (tools/packages: group bench)");
  }
  pipelined.push_back(lp_peer("lp tcp", Path::tcp));
  std::vector<Contestant> pulled = pipelined;
  pulled.insert(pulled.begin(), process_peer(self, "unix socket"));
  std::vector<Contestant> all = pulled;
  all.insert(all.begin(), {{.name = "virtual call", .start = [](Size) { return start_virtual_call(); }},
                           lp_peer("lp direct", Path::direct),
                           process_peer(self, "futex")});

  const auto add = [&](std::vector<Result> results) {
    report.results.insert(report.results.end(), results.begin(), results.end());
  };
  add(measure_section(all, {}, latencies(plan), plan.rounds));
  add(copies(plan));
  add(measure_section(pulled, {},
                      {{.table = kPull,
                        .column = "GB/s",
                        .unit = Unit::gigabytes_per_second,
                        .work = {.kind = Kind::pull, .duration = plan.milliseconds * 8'000'000}}},
                      plan.rounds));
  add(measure_section(pipelined, {.callers = plan.callers.back()}, rates(plan), plan.rounds));
  add(measure_section(pulled, {.services = plan.services},
                      {{.table = kFanOut,
                        .column = std::to_string(plan.services) + " services",
                        .work = {.kind = Kind::fan_out, .duration = plan.milliseconds * 5'000'000}}},
                      plan.rounds));
  report.load_after = load();
  report.claims = check_claims(report.results);
  return report;
}

}  // namespace
}  // namespace lp::bench

int main(int argc, char** argv) {
  using namespace lp::bench;  // NOLINT: a main of a benchmark
  lp::Programs programs;
  add_program(programs);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  const std::vector<Peer> peers{futex_peer(), unix_peer(), zeromq_peer()};
  if (const auto code = become_peer_if_asked(argc, argv, peers)) return *code;

  bool json = false;
  Plan plan;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick") {
      plan = kQuick;
    } else if (argument == "--json") {
      json = true;
    } else {
      std::fprintf(stderr, "rpc_bench: unknown option %s; there are --quick and --json\n", argv[i]);
      return 2;
    }
  }
  const Report report = run(plan);
  print(report, json ? stderr : stdout);
  if (json) std::printf("%s\n", lp::to_json(report).c_str());
  const auto failed = [](const Result& result) { return !result.error.empty(); };
  return std::ranges::any_of(report.results, failed) ? 1 : 0;
}
