#pragma once
// The common part of all training schemes over parameter servers: the task, the numbers, the graph and its result.
//
//     worker/0 ─┬─▶ server/0
//     worker/1 ─┼─▶ server/1
//     ...       ┘   ...
//
// A scheme is a Scheme: a consistency model at the servers and an Exchange in the workers. Values; pure functions.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "lp/checkpoint/checkpoint.h"
#include "lp/program/program.h"
#include "nodes/parameters/consistency.h"
#include "nodes/parameters/gradient_encoding.h"
#include "nodes/parameters/optimizer.h"
#include "nodes/parameters/parameter_client.h"
#include "nodes/parameters/parameter_server.h"
#include "nodes/parameters/parameters.h"
#include "programs/data/data.h"
#include "programs/models/model.h"

namespace lp {

class TrainingWorker;

// The model to learn, and the data to learn from. Nodes call these functions where they run, and must get equal
// results.
struct LearningTask {
  std::function<std::unique_ptr<Model>()> model{};
  // The training data; the program's seed decides about splits. Without it, workers train on batches from feeders.
  std::function<Dataset(std::uint64_t seed)> data{};
  std::string device{};  // where the model computes gradients, for the plan (GroupOptions::device)
};

struct ServerTraining {
  int workers = 4;
  int servers = 1;
  std::uint64_t steps = 500;
  std::uint32_t batch = 64;  // examples per step, over all workers
  OptimizerRule rule = Sgd{};
  std::uint64_t checkpoint_every =
      50;                   // updates from one cut to the next; 0: a failed server starts from the beginning
  int restarts = 0;         // how often each failed node is restarted; then the program stops
  bool replicated = false;  // a failed server is replaced by its replica, instead; no cuts
  BadValues bad_values = BadValues::refuse;
  CompressionOptions compression{};
};

// How the batches are divided among the workers.
enum class Division : std::uint8_t {
  shards,  // each worker takes its part of every batch
  turns,   // worker k of n takes the whole batches k, k + n, k + 2n, ...
};

// The rows of the parameters that Model::rows returns; empty: all.
using Rows = Array<std::uint64_t>;

// One of `workers` workers, from 0.
struct WorkerRank {
  std::uint32_t worker = 0;
  std::uint32_t workers = 1;
};

// How far a training is, in a scheme that goes on without failed workers. A step takes this batch, divided among the
// remaining workers. Where they take turns, it takes one batch each, from this one on.
struct Position {
  std::uint64_t batch = 0;
  WorkerRank rank{};
};

// A worker's result for its part of a batch, all of it summed over the examples.
struct BatchGradient {
  std::uint32_t examples = 0;
  double loss = 0;
  Eigen::VectorXf gradient{};
};

// How a worker's gradients become the parameters of all workers: this is the difference between schemes. Owned by a
// worker, which calls it in its run().
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Begins, or after an Error::disconnected begins again where the servers are. Returns the step to do next.
  virtual std::uint64_t begin() = 0;
  // The parameters from which the gradient of this step is to be computed. May wait for other workers.
  virtual const Eigen::VectorXf& parameters(std::uint64_t step, const Rows& rows) = 0;
  // Hands over the gradient of this step. Returns the step to do next.
  virtual std::uint64_t push(std::uint64_t step, const Rows& rows, const BatchGradient& batch) = 0;
  // Called when all steps are done.
  virtual void end() {}

  // The position of the next step, in a scheme that goes on without failed workers. All workers are at the same batch.
  virtual std::optional<Position> position() const { return {}; }
  // The mean loss over all workers' examples of the last step, in a scheme that knows it.
  virtual std::optional<double> loss() const { return {}; }
  // The traffic beside the pushes and pulls of the servers' client.
  virtual Traffic traffic() const { return {}; }

  // The learned parameters, in a scheme whose servers do not hold them: a function that returns them once all workers
  // have ended. It outlives the exchange, and is called in the worker's turn.
  virtual std::function<Parameters()> result() const { return {}; }
  // The same as a part of the worker's cuts, between two steps. load() comes before begin().
  virtual void save(Checkpoint&) const {}
  virtual void load(const Checkpoint&) {}
  virtual std::uint64_t dropped() const { return 0; }  // gradients
};

// The arguments from which an exchange is made. The references outlive it.
struct ExchangeParts {
  ParameterClient& servers;
  const Model& model;
  const ServerTraining& training;
  std::uint64_t seed = 0;          // the program's
  std::uint32_t worker = 0;        // this worker's number
  std::uint64_t examples = 0;      // training examples of all workers
  std::uint64_t own_examples = 0;  // this worker's, in a scheme whose workers have examples of their own
  std::uint64_t round_steps = 0;   // likewise: this worker's steps in a round
};

struct Scheme {
  Consistency consistency = Synchronous{};
  // Servers between the workers and the others: the sizes of their levels, from the workers up. Number i of a level
  // pushes to number i mod n of the n in the level above. For gradients of all parameters, and without replicas.
  std::vector<int> levels{};
  OptimizerRule rule = Sgd{};  // at the servers
  Division division = Division::shards;
  // For a scheme whose workers have examples of their own: selects them. The training's steps are then rounds. In a
  // round, a worker goes through its examples `epochs` times, one batch in each step.
  std::function<std::vector<std::uint32_t>(const Dataset&, WorkerRank, std::uint64_t seed)> own_examples{};
  std::uint64_t epochs = 1;
  bool takes_rows = false;         // its workers can pull and push some rows of the parameters
  int spare_workers = 0;           // as many workers may fail, if they are not restarted
  bool learns_in_workers = false;  // the servers do not hold the parameters, and forget what they summed
  std::function<std::unique_ptr<Exchange>(const ExchangeParts&)> exchange{};
  CompressionOptions compression{};  // if set, it replaces the training's
  // The tensors of a model at the servers; without it, one dense tensor of all parameters, on a ring.
  std::function<std::vector<Tensor>(const LearningTask&, const ServerTraining&)> tensors{};
};

struct TrainingGraph {
  GroupHandle<ParameterServer> servers;
  GroupHandle<TrainingWorker> workers;
};

// Adds the groups "server" and "worker" to the program, which ends when the workers have done their steps.
TrainingGraph add_server_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                  const Scheme& scheme);

// The compression of its workers' gradients.
CompressionOptions compression_of(const ServerTraining& training, const Scheme& scheme);
// Returns whether workers are in the program's cuts, since they hold the parameters or residuals of compression: the
// servers' updates are then the workers' steps, and cuts are taken.
bool cuts_workers(const ServerTraining& training, const Scheme& scheme);

// The servers alone, for a graph of your own in which `pushers` workers push.
GroupHandle<ParameterServer> add_servers(Program& program, const LearningTask& task, const ServerTraining& training,
                                         const Scheme& scheme, int pushers);

// A node that fails is restarted up to training.restarts times; then the program stops.
FailurePolicy restart_or_stop(const ServerTraining& training);

// The tensors of a scheme, as an argument of a node. They are made where the node starts, since they need the model's
// size.
struct SchemeTensors {
  LearningTask task{};
  ServerTraining training{};
  Scheme scheme{};

  std::vector<Tensor> dereference(Context&) const;
};

// The parameters that a training starts from, by the program's seed.
std::function<std::vector<float>(std::uint64_t seed)> initial_parameters(const LearningTask& task);

// One dense tensor of a model's parameters, split by this partition.
Tensor dense_tensor(const LearningTask& task, Partition partition);

// The result of a training that has ended: `size` parameters from the servers, in the order of their tensors. Where a
// scheme does not leave them there, the first live worker returns them. The step counts all updates of these
// parameters, also those of earlier runs that were resumed.
Parameters trained_parameters(const Clients<ParameterServer>& servers, const Clients<TrainingWorker>& workers,
                              Eigen::Index size);

}  // namespace lp
