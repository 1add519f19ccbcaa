#include "programs/evolution/evolution_report.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "programs/agents/flat_parameters.h"
#include "programs/experiments/curve_plot.h"

namespace lp {
namespace {

void draw(const MetricSeries& series, const std::string& title, const std::filesystem::path& file) {
  std::vector<Curve> curves;
  for (const auto& [name, label] : {std::pair("reward", "mean of 100 points"), std::pair("best", "best point"),
                                    std::pair("evaluation", "centre, mean of an evaluation")}) {
    if (const auto found = series.find(name); found != series.end()) curves.push_back({label, found->second});
  }
  write_curves(file, title, curves);
}

}  // namespace

EvolutionResult report_evolution(const Client<EvolutionLearner>& learner, const Client<Metrics>& metrics,
                                 const std::string& title, const std::filesystem::path& curve) {
  const EvolutionState state = learner.call<&EvolutionLearner::state>();
  EvolutionResult result{.best = state.best.value_or(0),
                         .generations = state.generations,
                         .evaluations = state.evaluations,
                         .steps = learner.call<&EvolutionLearner::counts>().steps,
                         .stale = state.stale,
                         .parameters_hash = hash_of(learner.read<&EvolutionLearner::learned>()->parameters)};
  std::printf("%s: best value %.6g after %llu points in %llu generations; %llu results arrived too late\n",
              title.c_str(), result.best, static_cast<unsigned long long>(result.evaluations),
              static_cast<unsigned long long>(result.generations), static_cast<unsigned long long>(result.stale));
  if (!curve.empty()) draw(metrics.call<&Metrics::all>(), title, curve);
  return result;
}

}  // namespace lp
