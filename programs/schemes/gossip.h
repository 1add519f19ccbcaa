#pragma once
// Training by gossip: GoSGD (Blot et al., "Gossip training for deep learning", 2016). Every worker trains its own model
// on its own batches, with no servers and no waiting. After a step it sends its model, with a probability, to a random
// other worker, which takes the mean of both by their weights. The learned model is the mean of all models by their
// weights.
//
//     worker/0 ──▶ gossip/2      each worker with its gossip/k, in one process
//     worker/2 ──▶ gossip/1      all ──▶ commits
//
// Values; pure functions.

#include <cstdint>
#include <optional>

#include "programs/training/training.h"

namespace lp {

// Adds the groups "worker", which ends the program, and "gossip", and the node "commits". `probability` is that of a
// message after a step.
//
// Every `checkpoint_every` of its steps, and after its last, a worker commits its model; when all have committed, a cut
// is taken. Workers do not wait for each other there. A message between a worker that has committed and one that has
// not is in both models or in neither, so that the sum of weights differs after a run was resumed.
//
// A worker that has ended takes no more messages: a slower worker keeps its weight for what it still learns. A worker
// that dies loses its weight, and the others go on. A restarted worker goes on from its last commit, with the weight
// that it had then. Without a commit it begins anew. When it is sent a model it takes that, and goes on at its sender's
// step: its earlier work is in the models of those to whom it sent. Error::failed unless the probability is one.
TrainingGraph add_gossip_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                  double probability = 0.1);

// To whom a worker sends its model after a step: with the probability, to any of the others.
std::optional<std::uint32_t> gossip_partner(std::uint64_t seed, const WorkerRank& rank, std::uint64_t step,
                                            double probability);

}  // namespace lp
