#pragma once
// A worker of a search by evolution: makes the points of the trials that the learner gives it, and sends their values.
// It keeps nothing, so that workers may come, go and die at any time. A node whose run() works.

#include <cstdint>
#include <memory>
#include <vector>

#include "lp/program/context.h"
#include "lp/rpc/client.h"
#include "programs/evolution/evolution_learner.h"

namespace lp {

class EvolutionWorker final : public EvolutionMember {
 public:
  EvolutionWorker(Context& node, Client<EvolutionLearner> learner, const EvolutionOptions& options);

  // Works until the search is over. Error::failed, which names the objective, the generation and the trial, when the
  // objective throws, or its value is not finite.
  void run(Context& node);

  using Remote = EvolutionMember::Remote;

 private:
  bool read(std::uint64_t generation);
  TrialReport done(const TrialOrder& order);
  Trial evaluate(std::uint64_t generation, std::uint32_t number);
  Evaluation checked(std::uint64_t generation, std::uint32_t number, std::size_t point);

  const Client<EvolutionLearner> learner_;
  const NoiseKind kind_;
  const std::uint64_t seed_;
  const SearchMethod method_;
  const std::unique_ptr<Objective> objective_;
  const std::size_t size_;  // number of searched parameters
  std::unique_ptr<Noise> noise_{};
  std::unique_ptr<Sampler> sampler_{};
  Version<Population> population_{};
  std::vector<float> parameters_{};  // a point, then the scale
};

}  // namespace lp
