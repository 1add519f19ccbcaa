#pragma once
// Asynchronous training: DistBelief's Downpour SGD (Dean et al., NIPS 2012, section 4.1), and TensorFlow's asynchronous
// replicas. Each gradient is applied when it arrives. Nobody waits for anybody, and the death of a worker stops nobody.

#include <cstdint>

#include "programs/training/training.h"

namespace lp {

// With fetch and push every step, it is TensorFlow's scheme. AdaGrad is DistBelief's rule at the servers.
struct Downpour {
  std::uint64_t fetch_every = 1;  // steps: n_fetch. Between two fetches a worker applies its own gradients to its copy.
  std::uint64_t push_every = 1;   // steps: n_push. The gradients of the steps are pushed as their sum.
  float local_rate = 0.1F;        // the rate for a worker's own gradients at its copy
};

// Error::failed when a number of steps is 0.
Scheme asynchronous_scheme(const ServerTraining& training, const Downpour& downpour = {});

inline TrainingGraph add_asynchronous_training(Program& program, const LearningTask& task,
                                               const ServerTraining& training, const Downpour& downpour = {}) {
  return add_server_training(program, task, training, asynchronous_scheme(training, downpour));
}

}  // namespace lp
