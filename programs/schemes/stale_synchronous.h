#pragma once
// Stale synchronous parallel training, as Petuum's Bösen (Ho et al., NIPS 2013): the fastest worker is at most
// `staleness` steps ahead of the slowest, a read at clock c sees every update stamped ≤ c − staleness − 1, perhaps
// newer ones, and always the worker's own. Workers apply the optimizer to their own copy and push the changes, which
// servers add up; a worker reads from its cache of rows as long as these are fresh enough.

#include <cstdint>

#include "programs/training/training.h"

namespace lp {

// The rule of the training is applied in the workers; its state, of Momentum and the like, is each worker's own.
Scheme stale_synchronous_scheme(const ServerTraining& training, std::uint64_t staleness);

inline TrainingGraph add_stale_synchronous_training(Program& program, const LearningTask& task,
                                                    const ServerTraining& training, std::uint64_t staleness) {
  return add_server_training(program, task, training, stale_synchronous_scheme(training, staleness));
}

}  // namespace lp
