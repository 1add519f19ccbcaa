#pragma once
// Training by gossip: GoSGD (Blot et al., "Gossip training for deep learning", 2016). Every worker trains its own model
// on its own batches, with no servers and no waiting; after a step it sends its model, with a probability, to a random
// other worker, who takes the mean of both by their weights. What is learned is the mean of all models by their
// weights.
//
//     worker/0 ──▶ gossip/2      each worker with its gossip/k, in one process
//     worker/2 ──▶ gossip/1      all ──▶ commits
//
// Values; pure functions.

#include "programs/training/training.h"

namespace lp {

// Adds the groups "worker", which ends the program, and "gossip", and the node "commits". `probability` is that of a
// message after a step. Every `cut_every` of its steps, and after its last, a worker commits its model; when all have,
// there is a cut. Workers do not wait for each other there: a message between two that have committed and have not is
// in both or in neither of them, so that the sum of weights is another one after a run was resumed. A worker that dies
// takes its weight with it, and the others go on. One that is restarted goes on from its last commit, with the weight
// that it had then. Before the first it begins anew, and when it is sent a model it takes that, and goes on at its
// sender's step: what it did before is in the models of those to whom it sent. Error::failed unless the probability is
// one.
TrainingGraph add_gossip_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                  double probability = 0.1);

}  // namespace lp
