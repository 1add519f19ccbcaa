#pragma once
// Training with bounded delay, as in the parameter server of Li et al. (OSDI 2014): step t of a worker begins when all
// steps older than t − delay of all workers have been applied. Workers do not wait for their pushes: these travel while
// the next step is computed.

#include <cstdint>

#include "programs/training/training.h"

namespace lp {

// delay 0 is synchronous training, bit for bit; kUnbounded never waits.
Scheme bounded_delay_scheme(const ServerTraining& training, std::uint64_t delay);

inline TrainingGraph add_bounded_delay_training(Program& program, const LearningTask& task,
                                                const ServerTraining& training, std::uint64_t delay) {
  return add_server_training(program, task, training, bounded_delay_scheme(training, delay));
}

}  // namespace lp
