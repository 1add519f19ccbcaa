// Learns to act by IMPALA: actors put experience into a queue; a learner takes it and corrects for its age by V-trace.
//
//   actor/0 ─┬─▶ queue ◀─ learner ─▶ metrics
//   actor/1 ─┘              ▲          ▲
//      └────────────────────┘ parameters
//                      evaluator ──────┘
//
// With --inference_servers=1 the actors hold no policy: a server chooses the actions of all (SEED).
//
//   build/examples/impala --environment=catch --launch=processes --plot=catch.svg

#include "programs/agents/impala.h"

#include <cstdint>

#include "launchers/main.h"
#include "lp/lp.h"
#include "nodes/lost_files.h"
#include "programs/experiments/experiment_flags.h"
#include "programs/experiments/experiment_report.h"

struct Defaults {
  static constexpr const char* kEnvironment = "cartpole";
  static constexpr const char* kEnvironments = "acrobot, cartpole, catch or mountaincar";
  static constexpr int kActors = 2;
  static constexpr std::uint64_t kSteps = 1'000'000;
  static constexpr std::uint64_t kCheckpointEvery = 200;
};
using Config = lp::ExperimentFlags<Defaults>;

lp::Experiment experiment(const Config& config) { return experiment_of(config, lp::impala()); }

lp::Program make_program(const Config& config) {
  lp::Program program("impala");
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
