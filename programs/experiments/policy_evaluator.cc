#include "programs/experiments/policy_evaluator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr const char* kSeries = "evaluation";

}  // namespace

std::vector<double> play(EnvironmentBatch& environments, Policy& policy) {
  environments.reset();
  std::vector<std::optional<double>> rewards(environments.copies());
  Eigen::MatrixXf actions;
  for (std::size_t left = rewards.size(); left > 0;) {
    policy.exploit(environments.observations(), actions);
    environments.step(actions);
    for (const FinishedEpisode& one : environments.finished()) {
      if (rewards[one.copy]) continue;  // the copy plays on while others are in their first episode
      rewards[one.copy] = one.reward;
      --left;
    }
  }
  std::vector<double> out;
  for (const std::optional<double>& one : rewards) out.push_back(*one);
  return out;
}

PlayResult result_of(const Learned& learned, const std::vector<double>& rewards) {
  const auto count = static_cast<double>(rewards.size());
  const double mean = std::accumulate(rewards.begin(), rewards.end(), 0.0) / count;
  double squares = 0;
  for (const double one : rewards) squares += (one - mean) * (one - mean);
  return {.steps = learned.steps,
          .episodes = static_cast<int>(rewards.size()),
          .mean = mean,
          .least = *std::min_element(rewards.begin(), rewards.end()),
          .most = *std::max_element(rewards.begin(), rewards.end()),
          .error = std::sqrt(squares / std::max(count - 1, 1.0) / count)};
}

PolicyEvaluator::PolicyEvaluator(Context& node, Client<ParameterSource> learner, Client<Metrics> metrics,
                                 const MakePolicy& policy, const MakeEnvironment& environment, PlayOptions options)
    : learner_(std::move(learner)),
      metrics_(std::move(metrics)),
      options_(options),
      environments_(environment, static_cast<std::size_t>(std::max(options.episodes, 0)), node.seed()),
      policy_(policy(environments_.spec())) {}

void PolicyEvaluator::run(Context& node) {
  std::optional<std::uint64_t> played;  // the updates of the version before
  std::uint64_t steps = reported_steps();
  Duration pause{};
  do {
    pause = options_.period;
    Version<Learned> learned;
    try {
      learned = learner_.read<&ParameterSource::learned>();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      continue;
    }
    if (played == learned->updates || learned->steps < steps) continue;
    played = learned->updates;
    steps = learned->steps;
    const Time begin = now();
    if (evaluate(node, *learned)) return;
    pause = std::max(pause, 4 * (now() - begin));
  } while (node.wait_for(pause));
}

// The steps of the last evaluation that an earlier incarnation reported.
std::uint64_t PolicyEvaluator::reported_steps() const {
  const auto latest = metrics_.call<&Metrics::latest>();
  const auto found = latest.find(kSeries);
  return found == latest.end() ? 0 : found->second.step;
}

// Returns whether the goal is reached.
bool PolicyEvaluator::evaluate(Context& node, const Learned& learned) {
  policy_->set(learned);
  PlayResult result = result_of(learned, play(environments_, *policy_));
  bool reached = options_.goal && result.mean >= *options_.goal;
  if (reached) {  // luck selects the evaluation that is the first to reach a goal; it does not select new episodes
    result = result_of(learned, play(environments_, *policy_));
    reached = result.mean - result.error >= *options_.goal;
  }
  node.exclusive([&] {
    if (results_.empty() || result.mean > best_mean_) {
      best_ = learned;
      best_mean_ = result.mean;
    }
    results_.push_back(result);
  });
  const MetricValues values{{kSeries, result.mean}};
  metrics_.send<&Metrics::log>(learned.steps, values);
  node.report({.step = learned.steps, .values = values});
  if (!reached) return false;
  const std::string reason = "after " + std::to_string(learned.steps) + " steps the mean reward of " +
                             std::to_string(result.episodes) + " episodes is " + std::to_string(result.mean);
  learner_.call<&ParameterSource::end_early>(reason);
  return true;
}

template const NodeType& internal::node_type<PolicyEvaluator>();

}  // namespace lp
