// Learns to act by DQN: actors put transitions into a replay table; a learner samples them by their priorities.
//
//   actor/0 ─┬─▶ replay ◀─ learner ─▶ metrics
//   actor/1 ─┘               ▲          ▲
//      └─────────────────────┘ parameters
//                       evaluator ──────┘
//
//   build/examples/dqn --environment=acrobot --goal=-100 --launch=processes --plot=acrobot.svg

#include "programs/agents/dqn.h"

#include <cstdint>

#include "launchers/main.h"
#include "lp/lp.h"
#include "nodes/lost_files.h"
#include "programs/experiments/experiment_flags.h"
#include "programs/experiments/experiment_report.h"

struct Defaults {
  static constexpr const char* kEnvironment = "cartpole";
  static constexpr const char* kEnvironments = "acrobot, cartpole, catch or mountaincar";
  static constexpr int kActors = 1;
  static constexpr std::uint64_t kSteps = 80'000;
  static constexpr std::uint64_t kCheckpointEvery = 2000;
};
using Config = lp::ExperimentFlags<Defaults>;

lp::Experiment experiment(const Config& config) { return experiment_of(config, lp::dqn()); }

lp::Program make_program(const Config& config) {
  lp::Program program("dqn");
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
