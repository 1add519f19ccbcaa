#pragma once
// What every training scheme over parameter servers has in common: the task, the numbers, the graph and its result.
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
#include <vector>

#include <Eigen/Core>

#include "lp/program/program.h"
#include "nodes/parameters/compression.h"
#include "nodes/parameters/consistency.h"
#include "nodes/parameters/optimizer.h"
#include "nodes/parameters/parameter_client.h"
#include "nodes/parameters/parameter_server.h"
#include "nodes/parameters/parameters.h"
#include "programs/data/data.h"
#include "programs/models/model.h"

namespace lp {

class TrainingWorker;

// What is learned from what. Nodes call these functions where they run, and must get equal answers.
struct LearningTask {
  std::function<std::unique_ptr<Model>()> model{};
  // To train on; the program's seed decides about splits. Without it, workers train on what they are fed.
  std::function<Dataset(std::uint64_t seed)> data{};
};

struct ServerTraining {
  int workers = 4;
  int servers = 1;
  std::uint64_t steps = 500;
  std::uint32_t batch = 64;  // examples per step, over all workers
  OptimizerRule rule = Sgd{};
  std::uint64_t cut_every = 50;  // updates from one cut to the next; 0: a failed server starts from the beginning
  int restarts = 0;              // of each node that fails; then the program stops
  bool replicated = false;       // a server that fails is replaced by its replica, instead; no cuts
  BadValues bad_values = BadValues::refuse;
  CompressionOptions compression{};
};

// Who computes the gradients of the batches.
enum class Division : std::uint8_t {
  shards,  // each worker takes its part of every batch
  turns,   // worker k of n takes the whole batches k, k + n, k + 2n, ...
};

// Which rows of the parameters, as Model::rows has them; empty: all.
using Rows = Array<std::uint64_t>;

// One of so many workers, from 0.
struct Place {
  std::uint32_t worker = 0;
  std::uint32_t workers = 1;
};

// How far a training is, in a scheme that goes on without the workers that fail: a step takes this batch, divided among
// those that are left, or where they take turns the batches from it on, one each.
struct Position {
  std::uint64_t batch = 0;
  Place place{};
};

// What a worker has computed of its part of a batch, all of it summed over the examples.
struct BatchGradient {
  std::uint32_t examples = 0;
  double loss = 0;
  Eigen::VectorXf gradient{};
};

// How a worker's gradients become everybody's parameters: what tells one scheme from another. Owned by a worker, which
// calls it in its run().
class Exchange {
 public:
  virtual ~Exchange() = default;

  // Begins, or begins again where the servers are after an Error::disconnected: the step to do next.
  virtual std::uint64_t begin() = 0;
  // The parameters from which the gradient of this step is to be computed. May wait for other workers.
  virtual const Eigen::VectorXf& parameters(std::uint64_t step, const Rows& rows) = 0;
  // The gradient of this step. Returns the step to do next.
  virtual std::uint64_t push(std::uint64_t step, const Rows& rows, const BatchGradient& batch) = 0;
  // All steps are done.
  virtual void end() {}

  // Where the next step is, in a scheme that goes on without the workers that fail. All are at the same batch.
  virtual std::optional<Position> position() const { return {}; }
  // The mean over all workers' examples of the last step, in a scheme that knows it.
  virtual std::optional<double> loss() const { return {}; }
  // What it sent otherwise than as pushes and pulls of the servers' client.
  virtual Traffic traffic() const { return {}; }

  // What was learned, in a scheme whose servers do not hold it: a function that gives it once all workers have ended.
  // It outlives the exchange, and is called in the worker's turn.
  virtual std::function<Parameters()> result() const { return {}; }
  virtual std::uint64_t dropped() const { return 0; }  // gradients
};

// What an exchange is made from. The references outlive it.
struct ExchangeParts {
  ParameterClient& servers;
  const Model& model;
  const ServerTraining& training;
  std::uint64_t seed = 0;          // of the program
  std::uint32_t worker = 0;        // which one this is
  std::uint64_t examples = 0;      // to train on, of all
  std::uint64_t own_examples = 0;  // of this worker, in a scheme whose workers have their own
  std::uint64_t round_steps = 0;   // the same: steps of this worker in a round
};

struct Scheme {
  Consistency consistency = Synchronous{};
  // Servers between the workers and the others: the sizes of their levels, from the workers up. Of a level, number i is
  // summed by number i mod n of the n above it. For gradients of all parameters, and without replicas.
  std::vector<int> levels{};
  OptimizerRule rule = Sgd{};  // at the servers
  Division division = Division::shards;
  // Of a scheme whose workers have examples of their own: which of all these are. The training's steps are rounds then,
  // in which a worker goes through its examples so many times, a batch a step.
  std::function<std::vector<std::uint32_t>(const Dataset&, Place, std::uint64_t seed)> own_examples{};
  std::uint64_t epochs = 1;
  bool takes_rows = false;     // its workers can pull and push some rows of the parameters
  bool loses_workers = false;  // the program goes on without a worker that fails, if it is not restarted
  std::function<std::unique_ptr<Exchange>(const ExchangeParts&)> exchange{};
  CompressionOptions compression{};  // instead of the training's, if it is any
  // The tensors that the servers hold of a model; without it, one dense tensor of all parameters, on a ring.
  std::function<std::vector<Tensor>(const LearningTask&, const ServerTraining&)> tensors{};
};

struct TrainingGraph {
  GroupHandle<ParameterServer> servers;
  GroupHandle<TrainingWorker> workers;
};

// Adds the groups "server" and "worker" to the program, which ends when the workers have done their steps.
TrainingGraph add_server_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                  const Scheme& scheme);

// How its workers' gradients are compressed.
CompressionOptions compression_of(const ServerTraining& training, const Scheme& scheme);
// Whether that leaves something behind that is in the program's cuts: where the updates of the servers are the steps of
// the workers, and there are cuts at all.
bool leaves_residuals(const ServerTraining& training, const Scheme& scheme);

// The servers alone, for a graph of your own in which `pushers` workers push.
GroupHandle<ParameterServer> add_servers(Program& program, const LearningTask& task, const ServerTraining& training,
                                         const Scheme& scheme, int pushers);

// A node that fails is restarted as often as the training says; then the program stops.
FailurePolicy restart_or_stop(const ServerTraining& training);

// The tensors of a scheme, as an argument of a node: they are made where it starts, since they ask the model its size.
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

// What a training that has ended has learned: `size` parameters from the servers, in the order of their tensors, or,
// where a scheme does not leave them there, what the first worker that is there knows of them. The step counts the
// updates of these parameters since their beginning, in runs that were resumed those before it, too.
Parameters trained_parameters(const Clients<ParameterServer>& servers, const Clients<TrainingWorker>& workers,
                              Eigen::Index size);

}  // namespace lp
