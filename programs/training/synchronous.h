#pragma once
// Synchronous data-parallel training, as TensorFlow's synchronous replicas: every step, each worker computes the
// gradient over its part of one global batch and pushes it to the servers, which go on when all workers have pushed, or
// all but some backup workers.
//
// Without backup workers the result is a function of the configuration and the program's seed: the same bits in threads
// and processes, and however often a node was restarted on the way. Workers keep nothing: what a worker does in a step
// is a function of (seed, step, worker), so one that was restarted, or whose servers went back to their last cut, goes
// on from whatever step the servers are at.

#include "programs/training/training.h"

namespace lp {

// `backups` workers of each step are not waited for: an update takes the first workers − backups gradients that were
// computed from the present parameters. Of the others some are dropped, and counted.
Scheme synchronous_scheme(const ServerTraining& training, std::uint32_t backups = 0);

inline TrainingGraph add_synchronous_training(Program& program, const LearningTask& task,
                                              const ServerTraining& training, std::uint32_t backups = 0) {
  return add_server_training(program, task, training, synchronous_scheme(training, backups));
}

}  // namespace lp
