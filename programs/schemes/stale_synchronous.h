#pragma once
// Stale synchronous parallel training, as in Petuum's Bösen (Ho et al., NIPS 2013): the fastest worker is at most
// `staleness` steps ahead of the slowest. A read at clock c sees every update stamped ≤ c − staleness − 1, perhaps
// newer ones, and always the worker's own. Workers apply the optimizer to their own copy and push the changes, which
// servers add up. A worker reads from its cache of rows as long as these are fresh enough.

#include <cstdint>

#include "programs/training/training.h"

namespace lp {

// The workers apply the rule of the training; its state, as that of Momentum, is each worker's own.
Scheme stale_synchronous_scheme(const ServerTraining& training, std::uint64_t staleness);

inline TrainingGraph add_stale_synchronous_training(Program& program, const LearningTask& task,
                                                    const ServerTraining& training, std::uint64_t staleness) {
  return add_server_training(program, task, training, stale_synchronous_scheme(training, staleness));
}

}  // namespace lp
