#pragma once
// Plays episodes by the best actions of a policy, to see how good it is: once, or again and again while others train.
//
// The evaluator is a node: run() plays, and its handlers run in its turn.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lp/base/scheduler.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/client.h"
#include "lp/rpc/core/method.h"
#include "nodes/metrics.h"
#include "programs/environments/environment_batch.h"
#include "programs/experiments/parameter_source.h"

namespace lp {

// The rewards of one episode in each copy, from its beginning on. Errors as EnvironmentBatch::step.
std::vector<double> play(EnvironmentBatch& environments, Policy& policy);

struct PlayResult {
  std::uint64_t steps = 0;  // environment steps that the policy has learned from
  int episodes = 0;
  double mean = 0;  // mean of the episodes' rewards
  double least = 0;
  double most = 0;
  double error = 0;  // the standard error of the mean
};

PlayResult result_of(const Learned& learned, const std::vector<double>& rewards);

struct PlayOptions {
  int episodes = 100;
  // The time between two evaluations. It is longer when an evaluation takes long, which costs the others a processor:
  // they have it for at least four fifths of the time.
  Duration period = std::chrono::milliseconds(250);
  // A mean reward of at least this ends the program, with success and a last checkpoint. An evaluation that reaches it
  // is repeated with new episodes. The result of these counts, and must exceed the goal by its standard error.
  std::optional<double> goal{};
};

class PolicyEvaluator {
 public:
  PolicyEvaluator(Context& node, Client<ParameterSource> learner, Client<Metrics> metrics, const MakePolicy& policy,
                  const MakeEnvironment& environment, PlayOptions options);

  // Plays by each new version of the parameters that it finds, until the program stops, and logs "evaluation". While
  // the learner is being restored, and until it is where it was at the last evaluation, it skips evaluations. Errors as
  // EnvironmentBatch::step.
  void run(Context& node);

  std::vector<PlayResult> results() const { return results_; }  // one for each evaluation, in order
  // The version with the best result, the first of equal ones. Without parameters before the first evaluation.
  Learned best() const { return best_; }

  using Remote = Methods<&PolicyEvaluator::results, &PolicyEvaluator::best>;

 private:
  std::uint64_t reported_steps() const;
  bool evaluate(Context& node, const Learned& learned);

  const Client<ParameterSource> learner_;
  const Client<Metrics> metrics_;
  const PlayOptions options_;
  EnvironmentBatch environments_;
  std::unique_ptr<Policy> policy_;
  std::vector<PlayResult> results_{};
  Learned best_{};
  double best_mean_ = 0;
};

// The tables that calls of this class need are compiled once, in policy_evaluator.cc.
extern template const NodeType& internal::node_type<PolicyEvaluator>();

}  // namespace lp
