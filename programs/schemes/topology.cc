#include "programs/schemes/topology.h"

#include <string>

#include "lp/base/error.h"
#include "programs/schemes/asynchronous.h"
#include "programs/schemes/hogwild.h"
#include "programs/training/synchronous.h"

namespace lp {

TrainingGraph add_topology_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                    const Topology& topology) {
  const int groups = topology.worker_groups;
  if (groups < 1 || groups > training.workers || (topology.shared_memory && groups != training.workers)) {
    throw Error(ErrorKind::failed,
                std::to_string(training.workers) + " workers in " + std::to_string(groups) +
                    " groups: give at least 1 group, and at least one worker to each" +
                    (topology.shared_memory ? "; with shared memory, exactly one worker to each" : ""));
  }
  if (topology.shared_memory) return add_hogwild_training(program, task, training);
  if (groups == 1) return add_synchronous_training(program, task, training);
  Scheme scheme = asynchronous_scheme(training);
  if (groups < training.workers) {
    scheme.levels = {groups};
    scheme.takes_rows = false;
  }
  return add_server_training(program, task, training, scheme);
}

}  // namespace lp
