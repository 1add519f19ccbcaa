#pragma once
// Training whose data side pushes the batches into the workers, as TensorFlowOnSpark's feeding does (InputMode.SPARK):
// feeders have the data; workers have none, and do with what they are fed what those of their scheme do with their own.
//
//     feeder/0 ──▶ worker/0 ─┬─▶ server/0, ...
//     feeder/1 ──▶ worker/1 ─┘
//
// The launcher is the reservation service: a node has its place, its index, when it has told the launcher where it is,
// and no feeder begins before all servers and workers have theirs. Values; pure functions.

#include "lp/program/context.h"
#include "lp/rpc/clients.h"
#include "programs/training/training.h"

namespace lp {

// A node that has the data, and feeds the worker of its own number.
class Feeder {
 public:
  Feeder(Clients<TrainingWorker> workers, LearningTask task, ServerTraining training, Scheme scheme);

  // Feeds the worker's share, batch by batch, then the end, until its worker is done, or gone for good. It is a batch
  // or two ahead of its worker, and waits when that is behind. What it keeps is where its worker is, who says so; so
  // either may be restarted. Error::deadline when the worker takes nothing for TrainingWorker::kFeedMilliseconds.
  void run(Context& node);

  using Remote = Methods<>;

 private:
  const Clients<TrainingWorker> workers_;
  const LearningTask task_;
  const ServerTraining training_;
  const Scheme scheme_;
};

// The groups of add_server_training, and "feeder" with one for each worker. The task's data is asked for by the feeders
// alone. The bits are those of the same training without feeders. A feeder that fails is restarted as often as the
// training says; without restarts the program stops, since nobody else feeds its worker.
TrainingGraph add_fed_training(Program& program, const LearningTask& task, const ServerTraining& training,
                               const Scheme& scheme);

}  // namespace lp
