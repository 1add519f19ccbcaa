#pragma once
// Synchronous data-parallel training: every step, each worker computes the gradient over its part of one global batch
// and pushes it to the servers, which hold a shard of the parameters each and go on when all workers have pushed.
//
//     worker/0 ─┬─▶ server/0
//     worker/1 ─┼─▶ server/1
//     ...       ┘   ...
//
// The result is a function of the configuration and the program's seed: the same bits in threads and processes, and
// however often a node was restarted on the way. Workers keep nothing: what a worker does in a step is a function of
// (seed, step, worker), so one that was restarted, or whose servers went back to their last cut, goes on from whatever
// step the servers are at.

#include <cstdint>
#include <functional>
#include <memory>

#include <Eigen/Core>

#include "lp/program/program.h"
#include "nodes/optimizer.h"
#include "nodes/parameter_server.h"
#include "programs/data.h"
#include "programs/model.h"

namespace lp {

// What is learned from what. Nodes call these functions where they run, and must get equal answers.
struct LearningTask {
  std::function<std::unique_ptr<Model>()> model{};
  std::function<Dataset(std::uint64_t seed)> data{};  // to train on; the program's seed decides about splits
};

struct SynchronousTraining {
  int workers = 4;
  int servers = 1;
  std::uint64_t steps = 500;
  std::uint32_t batch = 64;  // examples per step, over all workers
  OptimizerRule rule = Sgd{};
  std::uint64_t cut_every = 50;  // steps from one cut to the next; 0: a failed server starts from the beginning
  int restarts = 0;              // of each node that fails; then the program stops
};

// Adds the groups "server" and "worker" to the program, which ends when the workers have done their steps. Returns the
// servers.
GroupHandle<ParameterServer> add_synchronous_training(Program& program, const LearningTask& task,
                                                      const SynchronousTraining& training);

// All parameters, and after how many steps.
struct Parameters {
  std::uint64_t step = 0;
  Eigen::VectorXf values{};
};

// The newest version that all servers have. Error::disconnected when they have none in common, as while they are being
// restored: ask again.
Parameters latest_parameters(const Clients<ParameterServer>& servers);

// A worker of such a program, for graphs of your own.
class SynchronousWorker {
 public:
  SynchronousWorker(Clients<ParameterServer> servers, LearningTask task, SynchronousTraining training);

  // Trains until the servers are at the last step. Error::failed as for ParameterServer::push.
  void run(Context& node);

 private:
  Clients<ParameterServer> servers_;
  LearningTask task_;
  SynchronousTraining training_;
};

}  // namespace lp
