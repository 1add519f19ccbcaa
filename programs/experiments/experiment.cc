#include "programs/experiments/experiment.h"

#include <cmath>
#include <string>
#include <variant>

#include "lp/base/error.h"
#include "programs/environments/environment_batch.h"
#include "programs/experiments/policy_server.h"
#include "programs/experiments/policy_snapshots.h"
#include "programs/experiments/queue_trainer.h"
#include "programs/experiments/replay_trainer.h"
#include "programs/experiments/round_actor.h"
#include "programs/experiments/round_trainer.h"

namespace lp {
namespace {

void need(bool fits, const std::string& what) {
  if (!fits) throw Error(ErrorKind::failed, "an experiment needs " + what);
}

void check(const Experiment& experiment) {
  need(static_cast<bool>(experiment.environment), "an environment");
  const bool learns =
      std::visit([](const auto& training) { return static_cast<bool>(training.learner); }, experiment.agent.training);
  need(experiment.agent.policy && learns, "an agent with a policy and a learner");
  need(experiment.agent.copies > 0 && experiment.agent.steps > 0, "an agent with at least 1 copy and 1 step");
  need(experiment.actors > 0, "at least 1 actor, not " + std::to_string(experiment.actors));
  need(experiment.steps > 0, "at least 1 step");
  need(experiment.inference_servers >= 0, "a number of inference servers that is not negative");
  need(experiment.evaluation.episodes > 0 && experiment.evaluation.period > Duration::zero(),
       "at least 1 episode and a period above 0 for its evaluation");
  need(!std::isnan(experiment.evaluation.goal.value_or(0)), "a goal that is a number");
}

FailurePolicy policy_of(const Experiment& experiment) {
  return experiment.restarts > 0 ? restart(experiment.restarts) : stop_program();
}
GroupOptions learner_group(const Experiment& experiment) {
  return {.name = "learner", .on_failure = policy_of(experiment), .ends_program = true};
}
GroupOptions actor_group(const Experiment& experiment) {
  return {.name = "actor", .replicas = experiment.actors, .on_failure = policy_of(experiment)};
}

// The updates of a learner that takes so many segments for each.
std::uint64_t updates_of(const Experiment& experiment, std::size_t segments) {
  const std::uint64_t steps = segments * experiment.agent.copies * experiment.agent.steps;
  return experiment.steps == kEndless ? kEndless : experiment.steps / steps + (experiment.steps % steps != 0 ? 1 : 0);
}

// A small network is updated some thousand times a second: its actors must not act by old parameters for long.
constexpr Duration kPolicyPeriod = 10_ms;

// The servers that actors ask; a group of none if they ask nobody.
GroupHandle<PolicyService> add_policy_servers(Program& program, const Experiment& experiment,
                                              const Handle<ParameterSource>& learner) {
  const int servers = experiment.inference_servers;
  if (servers == 0) return GroupHandle<PolicyServer>("policy_server", 0);
  const ServingOptions options{
      .batch = {.most = static_cast<std::size_t>((experiment.actors + servers - 1) / servers), .wait = 1_ms},
      .patience = 30_s};  // less than the time of a call: its caller gets the reason from the server
  return program.group<PolicyServer>(
      {.name = "policy_server", .replicas = servers, .on_failure = policy_of(experiment)}, learner,
      exploring(experiment.agent.policy, experiment.environment), options, kPolicyPeriod);
}

// The nodes that act and learn; returns the learner.
Handle<ParameterSource> add_training(Program& program, const Experiment& experiment, const Rounds&,
                                     const Handle<Metrics>& metrics) {
  const RoundOptions options{.agent = experiment.agent,
                             .environment = experiment.environment,
                             .actors = experiment.actors,
                             .rounds = updates_of(experiment, static_cast<std::size_t>(experiment.actors)),
                             .checkpoint_every = experiment.checkpoint_every};
  const auto learner = program.add<RoundTrainer>(learner_group(experiment), context, metrics, options);
  program.group<RoundActor>(actor_group(experiment), context, learner, add_policy_servers(program, experiment, learner),
                            options);
  return learner;
}

Handle<ParameterSource> add_training(Program& program, const Experiment& experiment, const Queued& queued,
                                     const Handle<Metrics>& metrics) {
  const QueueOptions options{.agent = experiment.agent,
                             .environment = experiment.environment,
                             .updates = updates_of(experiment, queued.batch),
                             .checkpoint_every = experiment.checkpoint_every};
  const auto queue = program.add<SegmentQueue>({.name = "queue", .on_failure = policy_of(experiment)}, queued.room);
  const auto learner = program.add<QueueTrainer>(learner_group(experiment), context, queue, metrics, options);
  program.colocate(learner, queue);  // segments then need one way through the network
  program.group<QueueActor>(actor_group(experiment), context, learner, add_policy_servers(program, experiment, learner),
                            queue, options);
  return learner;
}

Handle<ParameterSource> add_training(Program& program, const Experiment& experiment, const Replayed& replayed,
                                     const Handle<Metrics>& metrics) {
  const double first = static_cast<double>(replayed.first_items);
  const double samples = (static_cast<double>(experiment.steps) - first) * replayed.samples_per_insert;
  const double least = first + std::ceil(static_cast<double>(replayed.batch) / replayed.samples_per_insert);
  need(samples >= static_cast<double>(replayed.batch), "at least " + std::to_string(static_cast<std::uint64_t>(least)) +
                                                           " steps, not " + std::to_string(experiment.steps) +
                                                           ": its agent begins to learn then");
  const ReplayOptions options{
      .agent = experiment.agent,
      .environment = experiment.environment,
      .actors = experiment.actors,
      .updates = experiment.steps == kEndless
                     ? kEndless
                     : static_cast<std::uint64_t>(samples / static_cast<double>(replayed.batch)),
      .checkpoint_every = experiment.checkpoint_every};
  const auto replay = program.add<replay::SavedServer>({.name = "replay", .on_failure = policy_of(experiment)}, context,
                                                       transition_table(options));
  const auto learner = program.add<ReplayTrainer>(learner_group(experiment), context, replay, metrics, options);
  program.group<ReplayActor>(actor_group(experiment), context, learner,
                             add_policy_servers(program, experiment, learner), replay, options);
  return learner;
}

}  // namespace

void check_environment(const Experiment& experiment) {
  check(experiment);
  const auto environment = made_environment(experiment.environment);
  static_cast<void>(experiment.agent.policy(environment->spec()));
  std::visit([&](const auto& training) { static_cast<void>(training.learner(environment->spec(), 0)); },
             experiment.agent.training);
}

ExperimentGraph add_experiment(Program& program, const Experiment& given) {
  check(given);
  Experiment experiment = given;
  experiment.environment = [make = given.environment] { return made_environment(make); };
  const auto metrics = program.add<Metrics>({.name = "metrics", .on_failure = policy_of(experiment)});
  const auto learner =
      std::visit([&](const auto& training) { return add_training(program, experiment, training, metrics); },
                 experiment.agent.training);
  const auto evaluator =
      program.add<PolicyEvaluator>({.name = "evaluator", .on_failure = policy_of(experiment)}, context, learner,
                                   metrics, experiment.agent.policy, experiment.environment, experiment.evaluation);
  if (experiment.snapshots) {
    program.add<PolicySnapshots>({.name = "snapshots", .on_failure = policy_of(experiment)}, learner,
                                 *experiment.snapshots);
  }
  return {learner, evaluator, metrics};
}

}  // namespace lp
