#pragma once
// Training in work units, as in DistBelief's Sandblaster (Dean et al., NIPS 2012, section 4.2). A coordinator splits
// every batch into more units than there are replicas, and a replica gets the next unit when it has done one. When all
// units are given out, an idle replica gets a backup copy of a unit that is not back, and the first result counts. So
// no step waits for a replica that is slow or gone, and the result has the same bits whichever replica computed which
// unit.
//
//     worker/0 ─┬─▶ replica/0        the worker is the coordinator
//               ├─▶ replica/1
//               └─▶ server/0, ...
//
// Values; pure functions.

#include <cstdint>

#include "programs/training/training.h"

namespace lp {

// The groups "server", "replica" with training.workers nodes, and "worker" with one, which ends the program. Each batch
// is split into `units` units. A replica that fails is restarted up to training.restarts times; without restarts the
// others go on without it. Error::failed when there are no units.
TrainingGraph add_work_unit_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                     std::uint32_t units = 16);

}  // namespace lp
