#include "programs/experiments/experiment_report.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "programs/agents/flat_parameters.h"
#include "programs/experiments/metric_chart.h"
#include "programs/experiments/policy_evaluator.h"

namespace lp {
namespace {

// The version that an evaluation has seen reach the goal. Without one, the last version: a training may end long after
// its last evaluation.
Learned result_of(const ExperimentNodes& nodes, const std::optional<double>& goal) {
  if (goal) {
    const std::vector<PlayResult> results = nodes.evaluator.call<&PolicyEvaluator::results>();
    const auto reaches = [&](const PlayResult& one) { return one.mean >= *goal; };
    if (std::any_of(results.begin(), results.end(), reaches)) return nodes.evaluator.call<&PolicyEvaluator::best>();
  }
  return *nodes.learner.read<&ParameterSource::learned>();
}

const std::vector<SeriesLabel> kRewards = {{"reward", "acting, mean of 100 episodes"},
                                           {"evaluation", "best actions, mean of an evaluation"}};

}  // namespace

ExperimentResult report_experiment(const ExperimentNodes& nodes, const Experiment& experiment, std::uint64_t seed,
                                   LostFiles& lost, const std::filesystem::path& curve) {
  constexpr std::size_t kEpisodes = 100;
  const Learned learned = result_of(nodes, experiment.evaluation.goal);
  EnvironmentBatch environments(experiment.environment, kEpisodes, seed);
  const std::unique_ptr<Policy> policy = experiment.agent.policy(environments.spec());
  policy->set(learned);
  const PlayResult played = result_of(learned, play(environments, *policy));
  const std::string& environment = environments.spec().name;
  std::printf("%s has learned from %llu steps of %s. 100 new episodes: mean reward %.1f, least %.1f, most %.1f\n",
              experiment.agent.name.c_str(), static_cast<unsigned long long>(learned.steps), environment.c_str(),
              played.mean, played.least, played.most);
  if (!curve.empty()) {
    const std::string title = experiment.agent.name + " on " + environment;
    lost.keep("the chart",
              [&] { write_chart(curve, title, nodes.series ? nodes.series() : MetricSeries(), kRewards); });
  }
  std::string snapshot;
  if (nodes.snapshots) {
    lost.keep("the last snapshot", [&] { snapshot = nodes.snapshots->call<&PolicySnapshots::save>(); });
  }
  return {.mean = played.mean,
          .least = played.least,
          .most = played.most,
          .episodes = played.episodes,
          .steps = learned.steps,
          .updates = learned.updates,
          .parameters_hash = hash_of(learned.parameters),
          .snapshot = snapshot};
}

}  // namespace lp
