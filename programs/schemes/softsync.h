#pragma once
// n-softsync, as in Rudra (Gupta, Zhang and Wang, ICDM 2016): the servers update after every ⌊workers / splits⌋
// gradients, from any workers, with their mean, each divided by its own staleness. Nobody waits: a worker reads the
// present parameters. With leaf servers, each leaf sums the gradients of its workers and pushes once to the other
// servers, as one of λ = leaves. A leaf goes on without a worker that fails and is not restarted.

#include <cstdint>

#include "programs/training/training.h"

namespace lp {

// splits 1: an update takes as many gradients as there are workers; splits = workers: asynchronous. A graph whose
// updates would take no gradient is refused.
Scheme softsync_scheme(const ServerTraining& training, std::uint32_t splits, int leaves = 0);

inline TrainingGraph add_softsync_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                           std::uint32_t splits, int leaves = 0) {
  return add_server_training(program, task, training, softsync_scheme(training, splits, leaves));
}

}  // namespace lp
