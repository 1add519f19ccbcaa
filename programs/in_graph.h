#pragma once
// Synchronous training in TensorFlow's in-graph form: one client issues every step. It reads the parameters, gives each
// replica a part of the batch, adds up their gradients, and pushes the sum. (The between-graph form, where each worker
// is a client of its own with its own data, is synchronous.h.) Both end with the same bits.
//
//     worker/0 ─┬─▶ replica/0
//               ├─▶ replica/1
//               └─▶ server/0, ...

#include <memory>
#include <vector>

#include <Eigen/Core>

#include "lp/rpc/clients.h"
#include "lp/rpc/method.h"
#include "lp/wire/eigen.h"
#include "programs/training.h"
#include "programs/worker.h"

namespace lp {

struct PartialGradient {
  double loss = 0;  // summed over the examples, and so is the gradient
  Eigen::VectorXf gradient{};
};

// A node that computes gradients of what it is given. It keeps nothing.
class GradientReplica {
 public:
  explicit GradientReplica(const LearningTask& task) : model_(task.model()) {}

  PartialGradient gradient(const Eigen::VectorXf& parameters, const Dataset& batch) const;

  using Remote = Methods<idempotent<&GradientReplica::gradient>>;

 private:
  std::unique_ptr<Model> model_;
};

// A worker whose gradients are computed by replicas.
class InGraphClient final : public TrainingWorker {
 public:
  InGraphClient(Clients<ParameterService> servers, const Clients<GradientReplica>& nodes, std::vector<Tensor> tensors,
                LearningTask task, const ServerTraining& training, Scheme scheme);
  using Remote = TrainingWorker::Remote;
};

// The groups "server", "replica" with training.workers nodes, and "worker" with one.
TrainingGraph add_in_graph_training(Program& program, const LearningTask& task, const ServerTraining& training);

}  // namespace lp
