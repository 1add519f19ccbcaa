#include "programs/evolution/evolution_report.h"

#include <cstdio>
#include <string>
#include <vector>

#include "lp/base/json.h"
#include "programs/agents/flat_parameters.h"
#include "programs/experiments/metric_chart.h"

namespace lp {
namespace {

const std::vector<SeriesLabel> kValues = {
    {"reward", "mean of 100 points"}, {"best", "best point"}, {"evaluation", "centre, mean of an evaluation"}};

}  // namespace

EvolutionResult report_evolution(const Client<EvolutionLearner>& learner, const ReadSeries& series,
                                 const std::string& title, LostFiles& lost, const std::filesystem::path& curve) {
  const EvolutionState state = learner.call<&EvolutionLearner::state>();
  EvolutionResult result{.best = state.best,
                         .generations = state.generations,
                         .evaluations = state.evaluations,
                         .steps = learner.call<&EvolutionLearner::counts>().steps,
                         .stale = state.stale,
                         .parameters_hash = hash_of(learner.read<&EvolutionLearner::learned>()->parameters)};
  const std::string best = result.best ? to_json(*result.best + 0.0) : "of no point";
  std::printf("%s: best value %s after %llu points in %llu generations; %llu results arrived too late\n", title.c_str(),
              best.c_str(), static_cast<unsigned long long>(result.evaluations),
              static_cast<unsigned long long>(result.generations), static_cast<unsigned long long>(result.stale));
  if (!curve.empty()) lost.keep("the chart", [&] { write_chart(curve, title, series(), kValues); });
  return result;
}

}  // namespace lp
