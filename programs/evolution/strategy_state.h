#pragma once
// The vectors of an evolution strategy and the work on them, on the host or in the memory of a queue, with the same
// bits.
//
// Owned by the search of evolution_strategy.h; one thread at a time.

#include <memory>
#include <span>
#include <vector>

#include "lp/base/array.h"
#include "lp/kernels/queue.h"
#include "nodes/parameters/optimizer.h"
#include "programs/evolution/noise.h"
#include "programs/evolution/search.h"

namespace lp {

class StrategyState {
 public:
  virtual ~StrategyState() = default;

  // Takes a step of Adam along decay · centre − Σ weight · ε over the trials. Returns the squared length of that
  // gradient.
  virtual double descend(std::span<const Trial> trials, std::span<const float> weights, const Adam& rule,
                         float decay) = 0;

  virtual Array<float> centre() const = 0;
  virtual Optimizer adam() const = 0;
  virtual void restore(std::span<const float> centre, const Optimizer& adam) = 0;
};

// The noise outlives the state.
std::unique_ptr<StrategyState> host_state(std::vector<float> centre, const Adam& rule, const Noise& noise);
std::unique_ptr<StrategyState> queue_state(std::unique_ptr<kernels::Queue> queue, const std::vector<float>& centre,
                                           const Adam& rule, const Noise& noise);

// Samples θ + σ ε and θ − σ ε.
std::unique_ptr<Sampler> queue_sampler(std::unique_ptr<kernels::Queue> queue, const Noise& noise);

}  // namespace lp
