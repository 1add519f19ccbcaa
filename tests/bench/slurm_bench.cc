// slurm_bench [HOSTS [PROCESSES [RUNS]]]: a program with PROCESSES processes on each of HOSTS nodes of a real Slurm on
// this machine: the time from its submission until all are ready, and from the request to stop until all are gone.
// Beside it, in turn, it runs `srun true` with as many tasks on the same nodes. It prints a table on standard error and
// JSON on standard output; a figure is the median.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "launchers/admin/admin_client.h"
#include "launchers/main.h"
#include "launchers/os/spawn.h"
#include "launchers/record/records.h"
#include "lp/base/json.h"
#include "lp/base/json_value.h"
#include "tests/bench/scale.h"
#include "tests/launchers/engines/slurm/slurm_cluster.h"

namespace lp::test {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(10);  // between two looks
constexpr auto kPatience = std::chrono::minutes(5);

struct Figures {
  int hosts = 0;
  int processes = 0;         // on each
  double ready_seconds = 0;  // from the submission until all serve
  double gone_seconds = 0;   // from the request to stop until no process is left on any node
  double srun_seconds = 0;   // from `srun true` to its end
};

double seconds_since(Time begin) { return std::chrono::duration<double>(now() - begin).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Waits until `text` is in the file. Exits when it does not come.
void wait_for(const std::filesystem::path& file, const std::string& text) {
  Event never;
  for (const Time end = after(kPatience); contents(file).find(text) == std::string::npos; never.wait(after(kPeriod))) {
    if (now() < end) continue;
    std::fprintf(stderr, "there is no %s in %s\n%s\n", text.c_str(), file.c_str(),
                 contents(file.parent_path() / "job.err").c_str());
    std::exit(1);
  }
}

void measure_program(int hosts, int processes, std::vector<double>& ready, std::vector<double>& gone) {
  const Directory directory;
  const std::filesystem::path run = directory.path() / "echoes";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const Time begin = now();
  const Ended submitted =
      command(self + " program --launch=slurm --submit --serve --nodes=" + std::to_string(hosts * processes) +
              " --slurm=--nodes=" + std::to_string(hosts) + ",--ntasks-per-node=" + std::to_string(processes) +
              " --directory=" + run.string());
  if (submitted.code != 0) std::fprintf(stderr, "%s\n", submitted.output.c_str());
  wait_for(run / "events.log", "\"text\":\"running\"");
  ready.push_back(seconds_since(begin));
  const Time stop = now();
  launch::AdminClient client(run);
  client.ask(R"({"ask":"stop","reason":"measured"})", after(kPatience));
  wait_for(run / "result.json", "\"success\":true");
  Event never;
  while (command("squeue -h").output != "") never.wait(after(kPeriod));
  gone.push_back(seconds_since(stop));
}

double measure_srun(int hosts, int processes) {
  const Time begin = now();
  const Ended ended =
      command("srun --nodes=" + std::to_string(hosts) + " --ntasks=" + std::to_string(hosts * processes) +
              " --ntasks-per-node=" + std::to_string(processes) + " true");
  if (ended.code != 0) std::fprintf(stderr, "srun: %s\n", ended.output.c_str());
  return seconds_since(begin);
}

Figures measure_slurm(int hosts, int processes, int runs) {
  const SlurmCluster cluster(hosts, processes);
  const Directory state;
  setenv("XDG_STATE_HOME", state.path().c_str(), 1);
  std::vector<double> ready, gone, srun;
  for (int i = 0; i < runs; ++i) {
    srun.push_back(measure_srun(hosts, processes));
    measure_program(hosts, processes, ready, gone);
  }
  return {hosts, processes, median(ready), median(gone), median(srun)};
}

}  // namespace
}  // namespace lp::test

int main(int argc, char** argv) {
  using namespace lp::test;  // NOLINT: a main of a benchmark
  const lp::Programs programs = lp::Programs().add<ScaleConfig>("echoes", make_echoes);
  if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;
  if (argc > 1 && std::string(argv[1]) == "program") {
    return lp::main<ScaleConfig>(argc - 1, argv + 1, {{"echoes", make_echoes}});
  }
  testing::InitGoogleTest(&argc, argv);
  const auto number = [&](int at, int otherwise) { return argc > at ? std::max(std::atoi(argv[at]), 1) : otherwise; };
  const Figures figures = measure_slurm(number(1, 16), number(2, 8), number(3, 3));
  std::fprintf(stderr, "%5s %12s %9s %9s %12s %7s\n", "nodes", "processes", "ready s", "gone s", "srun true s",
               "times");
  std::fprintf(stderr, "%5d %12d %9.2f %9.2f %12.2f %7.1f\n", figures.hosts, figures.hosts * figures.processes,
               figures.ready_seconds, figures.gone_seconds, figures.srun_seconds,
               (figures.ready_seconds + figures.gone_seconds) / figures.srun_seconds);
  std::printf("%s\n", lp::to_json(figures).c_str());
  return 0;
}
