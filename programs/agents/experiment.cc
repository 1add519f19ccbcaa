#include "programs/agents/experiment.h"

#include <string>

#include "lp/base/error.h"
#include "programs/agents/round_actor.h"
#include "programs/agents/round_trainer.h"

namespace lp {
namespace {

void check(const Experiment& experiment) {
  const auto need = [](bool fits, const std::string& what) {
    if (!fits) throw Error(ErrorKind::failed, "an experiment needs " + what);
  };
  need(static_cast<bool>(experiment.environment), "an environment");
  need(experiment.agent.policy && experiment.agent.training.learner, "an agent with a policy and a learner");
  need(experiment.agent.copies > 0 && experiment.agent.steps > 0, "an agent with 1 copy and 1 step at least");
  need(experiment.actors > 0, "1 actor at least, not " + std::to_string(experiment.actors));
  need(experiment.steps > 0, "1 step at least");
  need(experiment.evaluation.episodes > 0 && experiment.evaluation.period > Duration::zero(),
       "1 episode at least and a period above 0 for its evaluation");
}

FailurePolicy policy_of(const Experiment& experiment) {
  return experiment.restarts > 0 ? restart(experiment.restarts) : stop_program();
}

}  // namespace

ExperimentGraph add_experiment(Program& program, const Experiment& experiment) {
  check(experiment);
  const std::uint64_t round_steps =
      static_cast<std::uint64_t>(experiment.actors) * experiment.agent.copies * experiment.agent.steps;
  const RoundOptions rounds{.agent = experiment.agent,
                            .environment = experiment.environment,
                            .actors = experiment.actors,
                            .rounds = (experiment.steps + round_steps - 1) / round_steps,
                            .checkpoint_every = experiment.checkpoint_every};
  const auto metrics = program.add<Metrics>({.name = "metrics", .on_failure = policy_of(experiment)});
  const auto learner = program.add<RoundTrainer>(
      {.name = "learner", .on_failure = policy_of(experiment), .ends_program = true}, context, metrics, rounds);
  program.group<RoundActor>({.name = "actor", .replicas = experiment.actors, .on_failure = policy_of(experiment)},
                            context, learner, rounds);
  const auto evaluator =
      program.add<PolicyEvaluator>({.name = "evaluator", .on_failure = policy_of(experiment)}, context, learner,
                                   metrics, experiment.agent.policy, experiment.environment, experiment.evaluation);
  return {learner, evaluator, metrics};
}

}  // namespace lp
