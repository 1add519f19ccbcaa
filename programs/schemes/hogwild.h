#pragma once
// Hogwild (Recht, Ré, Wright and Niu, NIPS 2011): all workers change one vector in the memory of their host, with no
// locks and no messages. With sparse examples, a worker touches only the rows that it uses.
//
//     worker/0, worker/1, ... ──▶ vector      at first, to learn where it is
//
// Values; pure functions.

#include "programs/training/training.h"

namespace lp {

// Adds the node "vector" and the group "worker", which ends the program; all are threads or processes of one host. A
// worker that dies stops nobody; a restarted worker goes on with the step that it was in. The result is the vector when
// all have ended.
//
// Every `checkpoint_every` steps of a worker, and after the last step of all, a cut has the vector and the progress of
// each worker. A run that resumes this one goes on from there. It repeats only the steps that were being done while the
// vector was saved. The loss of the node "vector" ends the program, since its workers have mapped its memory.
// Error::failed unless the rule is SGD.
TrainingGraph add_hogwild_training(Program& program, const LearningTask& task, const ServerTraining& training);

}  // namespace lp
