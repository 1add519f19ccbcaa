#include "tests/bench/scale.h"

#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/config/config_yaml.h"

namespace lp::test {
namespace {

double seconds_since(Time begin) { return std::chrono::duration<double>(now() - begin).count(); }

// Kilobytes of a process's memory, with shared memory counted in proportion. 0 when it has ended.
double proportional_memory(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Pss:")) return std::stod(line.substr(4));
  }
  return 0;
}

}  // namespace

Program make_echoes(const ScaleConfig& config) {
  Program program("echoes");
  program.group<Echo>({.name = "echo", .replicas = config.nodes});
  return program;
}

ScaleFigures measure_scale(LaunchType launch, int nodes) {
  const ScaleConfig config{.nodes = nodes};
  ScaleFigures figures{.launch = launch == LaunchType::threads ? "threads" : "processes", .nodes = nodes};
  LaunchOptions options{.launch = launch, .entry = "echoes", .configuration = to_yaml(config)};
  const double before = proportional_memory(getpid());
  const Time begin = now();
  Run run(make_echoes(config), options);
  if (!run.wait_ready(std::chrono::minutes(1))) {
    figures.cause = "not ready: " + run.wait().cause.text();
    return figures;
  }
  figures.ready_seconds = seconds_since(begin);

  const Time call = now();
  std::vector<Future<int>> answers;
  for (int i = 0; i < nodes; ++i) {
    const Handle<Echo> echo("echo/" + std::to_string(i));
    answers.push_back(run.client(echo).async<&Echo::echo>(i));
  }
  for (int i = 0; i < nodes; ++i) figures.answers += answers[static_cast<std::size_t>(i)].get() == i ? 1 : 0;
  figures.call_seconds = seconds_since(call);

  if (launch == LaunchType::threads) {
    figures.kilobytes = (proportional_memory(getpid()) - before) / nodes;
  } else {
    for (const NodeStatus& node : run.status().nodes) figures.kilobytes += proportional_memory(node.pid) / nodes;
  }
  const Time stop = now();
  run.stop("measured");
  figures.success = run.wait().success;
  figures.cause = run.wait().cause.text();
  figures.stop_seconds = seconds_since(stop);
  return figures;
}

}  // namespace lp::test
