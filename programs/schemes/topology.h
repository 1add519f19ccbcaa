#pragma once
// Training whose scheme follows from the topology alone, as in SINGA (Ooi et al., ACM Multimedia 2015, section 4): the
// workers of a group do every step together, and groups know nothing of each other.
//
//   one group                        synchronous
//   a group for each worker          asynchronous (Downpour)
//   groups of several workers        each group's gradient is the sum of its workers', applied when it comes
//   groups that share memory         Hogwild: every group is one worker
//
// Values; pure functions.

#include "programs/training/training.h"

namespace lp {

struct Topology {
  int worker_groups = 1;  // the workers are divided among them
  bool shared_memory = false;
};

// Error::failed when there are fewer workers than groups, or several workers in a group that shares memory.
TrainingGraph add_topology_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                    const Topology& topology);

}  // namespace lp
