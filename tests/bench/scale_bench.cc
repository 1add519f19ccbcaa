// scale_bench [PROCESSES [THREADS]]: many nodes at once, as a table on standard error and as JSON on standard output.

#include <cstdio>

#include "lp/base/json.h"
#include "tests/bench/scale.h"

int main(int argc, char** argv) {
  using namespace lp::test;  // NOLINT: a main of a benchmark
  const lp::Programs programs = lp::Programs().add<ScaleConfig>("echoes", make_echoes);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  const int processes = argc > 1 ? std::atoi(argv[1]) : 300;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 3000;
  std::fprintf(stderr, "%-10s %6s %9s %9s %9s %11s %8s\n", "launch", "nodes", "ready s", "calls s", "stop s",
               "KB a node", "answers");
  bool success = true;
  lp::JsonWriter json;
  json.begin_array();
  for (const auto& [launch, nodes] :
       {std::pair(lp::LaunchType::processes, processes), {lp::LaunchType::threads, threads}}) {
    const ScaleFigures figures = measure_scale(launch, nodes);
    std::fprintf(stderr, "%-10s %6d %9.2f %9.2f %9.2f %11.0f %8d\n", figures.launch.c_str(), figures.nodes,
                 figures.ready_seconds, figures.call_seconds, figures.stop_seconds, figures.kilobytes, figures.answers);
    if (!figures.success) std::fprintf(stderr, "failed: %s\n", figures.cause.c_str());
    success = success && figures.success && figures.answers == nodes;
    json.json(lp::to_json(figures));
  }
  json.end_array();
  std::printf("%s\n", std::move(json).text().c_str());
  return success ? 0 : 1;
}
