// Learns to act by PPO: actors act in many copies of an environment, a learner improves their policy in rounds.
//
//   actor/0 ─┬─▶ learner ─▶ metrics
//   actor/1 ─┘      ▲          ▲
//               evaluator ─────┘
//
//   build/examples/ppo --environment=acrobot --launch=processes --plot=acrobot.svg

#include "programs/agents/ppo.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "launchers/main.h"
#include "lp/lp.h"
#include "nodes/lost_files.h"
#include "programs/experiments/experiment_flags.h"
#include "programs/experiments/experiment_report.h"

struct Defaults {
  static constexpr const char* kEnvironment = "cartpole";
  static constexpr const char* kEnvironments = "acrobot, cartpole, catch, mountaincar or pendulum";
  static constexpr int kActors = 2;
  static constexpr std::uint64_t kSteps = 100'000;
  static constexpr std::uint64_t kCheckpointEvery = 50;
};
using Config = lp::ExperimentFlags<Defaults>;

lp::Experiment experiment(const Config& config) {
  lp::PpoOptions options{.copies = std::max<std::size_t>(1, 16 / static_cast<std::size_t>(config.actors))};
  if (config.environment == "pendulum") {
    options.steps = 256;
    options.discount = 0.9F;
    options.decay = 0.95F;
  }
  return experiment_of(config, lp::ppo(options));
}

lp::Program make_program(const Config& config) {
  lp::Program program("ppo");
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
