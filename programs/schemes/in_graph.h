#pragma once
// Synchronous training in TensorFlow's in-graph form: one client issues every step. It reads the parameters, gives each
// replica a part of the batch, adds up their gradients, and pushes the sum. (The between-graph form, where each worker
// is a client of its own with its own data, is synchronous.h.) Both end with the same bits.
//
//     worker/0 ─┬─▶ replica/0
//               ├─▶ replica/1
//               └─▶ server/0, ...

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "lp/rpc/clients.h"
#include "lp/rpc/core/method.h"
#include "lp/wire/eigen.h"
#include "programs/training/training.h"

namespace lp {

// A node that computes gradients of the batches that it is given. It keeps no state, so a gradient needs no turn, and
// the node answers heartbeats however long a gradient takes.
class GradientReplica {
 public:
  explicit GradientReplica(const LearningTask& task) : model_(task.model()) {}

  BatchGradient gradient(const Eigen::VectorXf& parameters, const Dataset& batch) const;

  static constexpr int kGradientMilliseconds = 600'000;

  using Remote =
      Methods<deadline<concurrent<idempotent<&GradientReplica::gradient>, /*kLimit=*/1>, kGradientMilliseconds>>;

 private:
  std::unique_ptr<Model> model_;
};

// A model whose loss other nodes compute, each over a part of the batch. The sum, in the order of the parts, has the
// same bits whichever node computed them.
class DistributedModel : public Model {
 public:
  explicit DistributedModel(std::unique_ptr<Model> model) : model_(std::move(model)) {}

  Eigen::Index size() const override { return model_->size(); }
  Eigen::VectorXf initialize(std::uint64_t run_seed) const override { return model_->initialize(run_seed); }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return model_->scores(parameters, features);
  }
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override;

 protected:
  // The gradients of the parts, in the order of the parts.
  virtual std::vector<BatchGradient> compute(const Eigen::VectorXf& parameters, const Dataset& batch) const = 0;

 private:
  const std::unique_ptr<Model> model_;
};

// Part 0, 1, ... of `parts`, whose sizes differ by one at most.
Dataset part_of(const Dataset& batch, std::uint64_t part, std::uint64_t parts);

// Makes, from this model, one whose loss the replicas compute for the one client.
using Distribute = std::function<std::unique_ptr<Model>(std::unique_ptr<Model>, const Clients<GradientReplica>&)>;

// The groups "server", "replica" with training.workers nodes, and "worker" with one.
TrainingGraph add_in_graph_training(Program& program, const LearningTask& task, const ServerTraining& training);
// The same with another way to share the work, and another policy for replicas that fail.
TrainingGraph add_distributed_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                       const Distribute& distribute, FailurePolicy replica_failure);

}  // namespace lp
