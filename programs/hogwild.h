#pragma once
// Hogwild (Recht, Ré, Wright and Niu, NIPS 2011): all workers change one vector in the memory of their host, with no
// locks and no messages; of sparse examples, each touches only the rows that it uses.
//
//     worker/0, worker/1, ... ──▶ vector      at first, to learn where it is
//
// Values; pure functions.

#include "programs/training.h"

namespace lp {

// Adds the node "vector" and the group "worker", which ends the program; all are threads or processes of one host. A
// worker that dies stops nobody; one that is restarted goes on with the step that it was in. What a worker has at the
// end is the vector as it was when that worker had done its steps. Error::failed unless the rule is SGD.
TrainingGraph add_hogwild_training(Program& program, const LearningTask& task, const ServerTraining& training);

}  // namespace lp
