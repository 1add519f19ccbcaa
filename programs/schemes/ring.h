#pragma once
// Synchronous training over a ring allreduce, as in Horovod (Sergeev and Del Balso, 2018): a ring sums the gradients of
// all workers, fused up to a buffer, and every worker does the same update. Elastic: see replicas.h.

#include "programs/schemes/replicas.h"

namespace lp {

ReplicaScheme ring_scheme(CollectiveOptions options = {.allreduce = Allreduce::ring});

inline TrainingGraph add_ring_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                       CollectiveOptions options = {.allreduce = Allreduce::ring}) {
  return add_replica_training(program, task, training, ring_scheme(options));
}

}  // namespace lp
