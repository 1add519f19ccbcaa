#pragma once
// Synchronous data-parallel training, as in TensorFlow's synchronous replicas: in every step, each worker computes the
// gradient over its part of one global batch and pushes it to the servers. The servers go on when all workers have
// pushed, or all except some backup workers.
//
// Without backup workers the result is a function of the configuration and the program's seed: the same bits in threads
// and processes, and however often a node was restarted. Workers keep no state: a worker's step is a function of (seed,
// step, worker). So a worker that was restarted, or whose servers went back to their last cut, goes on from the
// servers' step.

#include "programs/training/training.h"

namespace lp {

// A step does not wait for `backups` workers: an update takes the first workers − backups gradients that were computed
// from the present parameters. Late gradients are dropped, and counted.
Scheme synchronous_scheme(const ServerTraining& training, std::uint32_t backups = 0);

inline TrainingGraph add_synchronous_training(Program& program, const LearningTask& task,
                                              const ServerTraining& training, std::uint32_t backups = 0) {
  return add_server_training(program, task, training, synchronous_scheme(training, backups));
}

}  // namespace lp
