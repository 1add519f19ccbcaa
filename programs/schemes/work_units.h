#pragma once
// Training in work units, as DistBelief's Sandblaster (Dean et al., NIPS 2012, section 4.2): a coordinator cuts every
// batch into more units than there are replicas, and a replica gets the next unit when it has done one. When all are
// given out, who is free gets a backup copy of one that is not back, and the first result counts. So no step waits for
// a replica that is slow or gone, and the result has the same bits whoever computed which unit.
//
//     worker/0 ─┬─▶ replica/0        the worker is the coordinator
//               ├─▶ replica/1
//               └─▶ server/0, ...
//
// Values; pure functions.

#include <cstdint>

#include "programs/training/training.h"

namespace lp {

// The groups "server", "replica" with training.workers nodes, and "worker" with one, which ends the program. `units` is
// how many a batch is cut into. A replica that fails is restarted as often as the training says; without restarts the
// others go on without it. Error::failed when there are no units.
TrainingGraph add_work_unit_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                     std::uint32_t units = 16);

}  // namespace lp
