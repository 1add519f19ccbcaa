#pragma once
// Training by gossip: GoSGD (Blot et al., "Gossip training for deep learning", 2016). Every worker trains its own model
// on its own batches, with no servers and no waiting; after a step it sends its model, with a probability, to a random
// other worker, who takes the mean of both by their weights.
//
//     worker/0 ──▶ gossip/2      each worker with its gossip/k, in one process
//     worker/2 ──▶ gossip/1
//
// Values; pure functions.

#include "programs/training.h"

namespace lp {

// Adds the groups "worker", which ends the program, and "gossip". `probability` is that of a message after a step.
// A worker that dies takes its weight with it, and the others go on. One that is restarted begins anew, and when it is
// sent a model it takes that, and goes on at its sender's step: what it did before is in the models of those to whom it
// sent. Error::failed unless the probability is one.
TrainingGraph add_gossip_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                  double probability = 0.1);

}  // namespace lp
