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
#include <string>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/environments/environments.h"
#include "programs/experiments/experiment.h"
#include "programs/experiments/experiment_report.h"

struct Config {
  std::string environment = "cartpole";
  int actors = 2;
  int inference_servers = 0;
  std::uint64_t steps = 1'000'000;
  double goal = 0;
  int restarts = 0;
  std::uint64_t checkpoint_every = 200;
  std::string snapshots{};
  std::string plot{};

  static constexpr auto fields = lp::fields(
      lp::field("environment", "acrobot, cartpole, catch or mountaincar"),
      lp::field("actors", "nodes that act", lp::range(1, 64)),
      lp::field("inference_servers", "nodes that actors ask for actions; 0: each has a policy", lp::range(0, 16)),
      lp::field("steps", "of all copies of the environment", lp::at_least(1), lp::changeable),
      lp::field("goal", "a mean reward of 100 episodes that ends the training; 0: none", lp::changeable),
      lp::field("restarts", "how often a node that fails is started again, before the program stops", lp::non_negative,
                lp::changeable),
      lp::field("checkpoint_every", "updates from one checkpoint to the next; 0: one at the end", lp::changeable),
      lp::field("snapshots", "directory for files with the policy, one a minute"),
      lp::field("plot", "SVG file for the rewards over the steps"));
};

lp::Experiment experiment_of(const Config& config) {
  lp::Experiment experiment{.agent = lp::impala(),
                            .environment = [name = config.environment] { return lp::make_environment(name); },
                            .actors = config.actors,
                            .inference_servers = config.inference_servers,
                            .steps = config.steps,
                            .checkpoint_every = config.checkpoint_every,
                            .restarts = config.restarts};
  if (!config.snapshots.empty()) experiment.snapshots = lp::SnapshotOptions{.directory = config.snapshots};
  if (config.goal != 0) experiment.evaluation.goal = config.goal;
  return experiment;
}

lp::Program make_program(const Config& config) {
  lp::Program program("impala");
  lp::add_experiment(program, experiment_of(config));
  return program;
}

lp::ExperimentResult report(lp::Run& run, const Config& config) {
  return lp::report_experiment({.learner = run.client<lp::ParameterSource>("learner"),
                                .evaluator = run.client<lp::PolicyEvaluator>("evaluator"),
                                .metrics = run.client<lp::Metrics>("metrics")},
                               experiment_of(config), run.seed(), config.plot);
}

int main(int argc, char** argv) { return lp::main<Config>(argc, argv, make_program, report); }
