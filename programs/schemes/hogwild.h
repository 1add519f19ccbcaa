#pragma once
// Hogwild (Recht, Ré, Wright and Niu, NIPS 2011): all workers change one vector in the memory of their host, with no
// locks and no messages; of sparse examples, each touches only the rows that it uses.
//
//     worker/0, worker/1, ... ──▶ vector      at first, to learn where it is
//
// Values; pure functions.

#include "programs/training/training.h"

namespace lp {

// Adds the node "vector" and the group "worker", which ends the program; all are threads or processes of one host. A
// worker that dies stops nobody; one that is restarted goes on with the step that it was in. What is learned is the
// vector when all have ended. Every `cut_every` steps of a worker, and after the last step of all, the vector is in a
// cut, with how far each worker is: a run that resumes this one goes on from there, and does no step twice but those
// that were being done while it was saved. A vector that is lost ends the program, since its workers have it in their
// memory. Error::failed unless the rule is SGD.
TrainingGraph add_hogwild_training(Program& program, const LearningTask& task, const ServerTraining& training);

}  // namespace lp
