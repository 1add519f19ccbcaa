#include "programs/evolution/evolution_worker.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr std::uint64_t kMostEpisodes = 1'000'000;  // in one evaluation; the learner notes the value of each
constexpr std::uint64_t kMostSteps = 1'000'000'000'000;

// Names a trial among those of all generations.
std::uint64_t name_of(std::uint64_t generation, std::uint32_t number) { return generation << 32 | number; }

}  // namespace

EvolutionWorker::EvolutionWorker(Context& node, Client<EvolutionLearner> learner, const EvolutionOptions& options)
    : learner_(std::move(learner)),
      kind_(options.noise.kind),
      seed_(node.program_seed()),
      method_(options.method),
      objective_(made_objective(options.objective, seed_)),
      size_(objective_->size()) {}

void EvolutionWorker::run(Context& node) {
  noise_ = make_noise(kind_, seed_, *learner_.read<&EvolutionLearner::noise>());
  sampler_ = method_.sampler(*noise_);
  const auto index = static_cast<std::uint32_t>(node.index());
  TrialReport report;
  while (!node.stopping()) {
    const TrialOrder order = learner_.call<&EvolutionLearner::work>(index, std::exchange(report, {}));
    if (order.over) return;
    if (order.range.count > 0 && read(order.generation)) report = done(order);
  }
}

// Returns whether the learner is still in this generation.
bool EvolutionWorker::read(std::uint64_t generation) {
  if (population_.number() == 0 || population_->generation != generation) {
    try {
      population_ = learner_.read<&EvolutionLearner::population>();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      return false;  // it is being restored
    }
    sampler_->set(population_->distribution);
    parameters_.resize(size_ + population_->scale.size());
    std::copy(population_->scale.begin(), population_->scale.end(),
              parameters_.end() - static_cast<std::ptrdiff_t>(population_->scale.size()));
  }
  return population_->generation == generation;
}

TrialReport EvolutionWorker::done(const TrialOrder& order) {
  TrialReport out{.generation = order.generation, .first = order.range.first};
  for (std::uint32_t i = 0; i < order.range.count; ++i) {
    out.trials.push_back(evaluate(order.generation, order.range.first + i));
  }
  return out;
}

Trial EvolutionWorker::evaluate(std::uint64_t generation, std::uint32_t number) {
  Trial trial{.index = noise_->index(name_of(generation, number), size_)};
  for (std::size_t i = 0; i < sampler_->points(); ++i) {
    sampler_->point(trial.index, i, std::span(parameters_).first(size_));
    const Evaluation one = checked(generation, number, i);
    trial.values.push_back(one.value);
    trial.steps += one.steps;
    trial.episodes += one.episodes;
    trial.observations.merge(one.observations);
  }
  return trial;
}

Evaluation EvolutionWorker::checked(std::uint64_t generation, std::uint32_t number, std::size_t point) {
  const auto fail = [&](const std::string& problem) {
    throw Error(ErrorKind::failed, "the objective \"" + objective_->name() + "\", generation " +
                                       std::to_string(generation) + ", trial " + std::to_string(number) + ", point " +
                                       std::to_string(point) + ": " + problem);
  };
  Evaluation out;
  try {
    out = objective_->evaluate(parameters_, name_of(generation, number));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::stopped) throw;
    fail(error.text());
  } catch (...) {
    fail("it threw an exception: " + as_error(std::current_exception()).text());
  }
  if (objective_->size() != size_) {
    fail("its size() is " + std::to_string(objective_->size()) + " now; it was " + std::to_string(size_));
  }
  if (out.episodes > kMostEpisodes || out.steps > kMostSteps) {
    fail("it counts " + std::to_string(out.episodes) + " episodes and " + std::to_string(out.steps) +
         " steps in one evaluation, but " + std::to_string(kMostEpisodes) + " and " + std::to_string(kMostSteps) +
         " are the limits");
  }
  if (!std::isfinite(out.value)) fail("its value is " + std::to_string(out.value));
  return out;
}

}  // namespace lp
