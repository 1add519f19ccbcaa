#pragma once
// An evolution strategy that follows the gradient of the smoothed objective: Salimans, Ho, Chen, Sidor and Sutskever,
// "Evolution strategies as a scalable alternative to reinforcement learning", 2017 (OpenAI ES). A value.
//
// In each generation, n pairs of points mirror one another: θ + σ ε and θ − σ ε. With the centred ranks r⁺ and r⁻ of
// their values among all 2n, the gradient is g = Σ (r⁺ − r⁻) ε / 2n. Adam descends along −g + decay · θ.

#include <cstddef>
#include <span>
#include <vector>

#include "lp/kernels/queue.h"
#include "nodes/parameters/optimizer.h"
#include "programs/evolution/search.h"

namespace lp {

struct EvolutionStrategyOptions {
  std::size_t pairs = 64;  // in a generation
  float sigma = 0.1F;
  Adam adam{.rate = 0.02F};
  float weight_decay = 0;
  float shrink = 1;  // multiplies sigma and the rate after each generation; below 1 the search settles
};

// Error::failed for an option that does not fit.
SearchMethod evolution_strategy(const EvolutionStrategyOptions& options = {});

// The same on queues, for instance of GPUs: one for the search, and one for each sampler. It has the same bits.
SearchMethod evolution_strategy(const EvolutionStrategyOptions& options, const kernels::MakeQueue& make_queue);

// The weight of each trial's noise in the gradient: (r⁺ − r⁻) / 2n.
std::vector<float> weights_of(std::span<const Trial> trials);

}  // namespace lp
