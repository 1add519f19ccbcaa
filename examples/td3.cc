// Learns to act by TD3, in continuous actions: actors put transitions into a replay table; a learner samples them.
//
//   actor/0 ─┬─▶ replay ◀─ learner ─▶ metrics
//   actor/1 ─┘               ▲          ▲
//      └─────────────────────┘ parameters
//                       evaluator ──────┘
//
//   build/examples/td3 --goal=-150 --launch=processes --plot=pendulum.svg

#include "programs/agents/td3.h"

#include <cstdint>

#include "launchers/main.h"
#include "lp/lp.h"
#include "nodes/lost_files.h"
#include "programs/experiments/experiment_flags.h"
#include "programs/experiments/experiment_report.h"

struct Defaults {
  static constexpr const char* kEnvironment = "pendulum";
  static constexpr const char* kEnvironments = "pendulum";
  static constexpr int kActors = 1;
  static constexpr std::uint64_t kSteps = 20'000;
  static constexpr std::uint64_t kCheckpointEvery = 2000;
};
using Config = lp::ExperimentFlags<Defaults>;

lp::Experiment experiment(const Config& config) { return experiment_of(config, lp::td3()); }

lp::Program make_program(const Config& config) {
  lp::Program program("td3");
  lp::add_experiment(program, experiment(config));
  return program;
}

lp::ExperimentResult report(lp::Run& run, const Config& config) {
  lp::LostFiles lost;
  const lp::ExperimentResult result =
      lp::report_experiment(lp::experiment_nodes(run), experiment(config), run.seed(), lost, config.plot);
  return lp::finish_report(result, lost.text());
}

void prepare(const Config& config) { lp::prepare_experiment(config, experiment(config)); }

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report, prepare); }
