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
#include <string>

#include "launchers/main.h"
#include "lp/lp.h"
#include "programs/environments/environments.h"
#include "programs/experiments/experiment.h"
#include "programs/experiments/experiment_report.h"

struct Config {
  std::string environment = "pendulum";
  int actors = 1;
  std::uint64_t steps = 20'000;
  double goal = 0;
  int restarts = 0;
  std::uint64_t checkpoint_every = 2000;
  std::string plot{};

  static constexpr auto fields = lp::fields(
      lp::field("environment", "pendulum"), lp::field("actors", "nodes that act", lp::range(1, 64)),
      lp::field("steps", "of all copies of the environment", lp::at_least(1), lp::changeable),
      lp::field("goal", "a mean reward of 100 episodes that ends the training; 0: none", lp::changeable),
      lp::field("restarts", "how often a node that fails is started again, before the program stops", lp::non_negative,
                lp::changeable),
      lp::field("checkpoint_every", "updates from one checkpoint to the next; 0: one at the end", lp::changeable),
      lp::field("plot", "SVG file for the rewards over the steps"));
};

lp::Experiment experiment_of(const Config& config) {
  lp::Experiment experiment{.agent = lp::td3(),
                            .environment = [name = config.environment] { return lp::make_environment(name); },
                            .actors = config.actors,
                            .steps = config.steps,
                            .checkpoint_every = config.checkpoint_every,
                            .restarts = config.restarts};
  if (config.goal != 0) experiment.evaluation.goal = config.goal;
  return experiment;
}

lp::Program make_program(const Config& config) {
  lp::Program program("td3");
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
