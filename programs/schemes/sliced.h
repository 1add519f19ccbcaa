#pragma once
// Sliced exchange, as in BigDL (Dai et al., SoCC 2019) and CaffeOnSpark, without separate servers. Each of N workers
// owns 1/N of the parameters. In a step all compute; then worker n sums slice n of every gradient, updates it, and
// sends it back out. So all workers have the same parameters after every step.

#include "programs/training/training.h"

namespace lp {

Scheme sliced_scheme(const ServerTraining& training);

// The groups are "server", with a slice each, and "worker"; a slice is in the process of its worker. There are as many
// servers as workers, whatever the training's number of servers.
TrainingGraph add_sliced_training(Program& program, const LearningTask& task, const ServerTraining& training);

}  // namespace lp
