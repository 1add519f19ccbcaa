#include "programs/evolution/evolution.h"

#include <cmath>
#include <string>

#include "lp/base/error.h"
#include "programs/evolution/evolution_worker.h"

namespace lp {
namespace {

void check_parameters(const EvolutionOptions& search) {
  const SearchMethod& method = search.method;
  if (method.most_parameters == 0) return;
  const auto objective = made_objective(search.objective, 0);
  if (objective->size() <= method.most_parameters) return;
  throw_failed(method.name + " searches at most " + std::to_string(method.most_parameters) + " parameters, but " +
               objective->name() + " has " + std::to_string(objective->size()) + ": take " + method.beyond);
}

void check(const Evolution& evolution) {
  const auto need = [](bool fits, const std::string& what) {
    if (!fits) throw Error(ErrorKind::failed, "an evolution needs " + what);
  };
  const EvolutionOptions& search = evolution.search;
  need(search.method.search && search.method.sampler, "a method with a search and a sampler");
  need(static_cast<bool>(search.objective), "an objective");
  need(search.evaluations > 0, "at least 1 evaluation");
  need(!std::isnan(search.goal.value_or(0)), "a goal that is a number");
  check_parameters(search);
  need(search.lease > Duration::zero() && search.patience > Duration::zero(), "a lease and a patience above 0");
}

FailurePolicy policy_of(const Evolution& evolution, const FailurePolicy& without_restarts) {
  return evolution.restarts > 0 ? restart(evolution.restarts) : without_restarts;
}

}  // namespace

EvolutionGraph add_evolution(Program& program, const Evolution& evolution) {
  check(evolution);
  const FailurePolicy on_failure = policy_of(evolution, stop_program());
  const auto metrics = program.add<Metrics>({.name = "metrics", .on_failure = on_failure});
  const auto learner = program.declare<EvolutionLearner>(
      {.name = "learner", .on_failure = on_failure, .ends_program = true, .device = evolution.device});
  const GroupOptions group{.name = "worker",
                           .replicas = evolution.workers,
                           .on_failure = policy_of(evolution, evolution.workers.elastic() ? ignore() : stop_program()),
                           .device = evolution.device};
  const GroupHandle<EvolutionMember> workers =
      program.group<EvolutionWorker>(group, context, learner, evolution.search);
  program.define(learner, context, metrics, workers, evolution.search);
  return {learner, metrics};
}

}  // namespace lp
