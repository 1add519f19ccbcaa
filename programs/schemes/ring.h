#pragma once
// Synchronous training over a ring allreduce, as Horovod (Sergeev and Del Balso, 2018): every worker sums the gradients
// of all by a ring, fused up to a buffer, and does the same update. Elastic: see replicas.h.

#include "programs/schemes/replicas.h"

namespace lp {

ReplicaScheme ring_scheme(CollectiveOptions options = {.allreduce = Allreduce::ring});

inline TrainingGraph add_ring_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                       CollectiveOptions options = {.allreduce = Allreduce::ring}) {
  return add_replica_training(program, task, training, ring_scheme(options));
}

}  // namespace lp
