#pragma once
// Training whose data nodes push the batches into the workers, as in TensorFlowOnSpark's feeding (InputMode.SPARK):
// feeders have the data. Workers have none, and train on the batches that they are fed, by the steps of their scheme.
//
//     feeder/0 ──▶ worker/0 ─┬─▶ server/0, ...
//     feeder/1 ──▶ worker/1 ─┘
//
// The launcher is the reservation service: a node has its place, its index, when it has sent its address to the
// launcher. No feeder begins before all servers and workers have their places. Values; pure functions.

#include "lp/program/context.h"
#include "lp/rpc/clients.h"
#include "programs/training/training.h"

namespace lp {

// A node that has the data, and feeds the worker with its own number.
class Feeder {
 public:
  Feeder(Clients<TrainingWorker> workers, LearningTask task, ServerTraining training, Scheme scheme);

  // Feeds the worker's share, batch by batch, then the end, until the program stops or its worker is lost: a worker
  // that is done works again when its servers go back. It is a batch or two ahead of its worker, and waits for a slow
  // worker. It takes the next step from the worker's answers and keeps no other state; so either may be restarted.
  // Error::deadline when the worker takes nothing for TrainingWorker::kFeedTime.
  void run(Context& node);

  using Remote = Methods<>;

 private:
  const Clients<TrainingWorker> workers_;
  const LearningTask task_;
  const ServerTraining training_;
  const Scheme scheme_;
};

// The groups of add_server_training, and "feeder" with one for each worker. Only the feeders read the task's data. The
// bits are those of the same training without feeders. A feeder that fails is restarted up to training.restarts times;
// without restarts the program stops, since nobody else feeds its worker.
TrainingGraph add_fed_training(Program& program, const LearningTask& task, const ServerTraining& training,
                               const Scheme& scheme);

}  // namespace lp
