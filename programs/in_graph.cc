#include "programs/in_graph.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "programs/synchronous.h"

namespace lp {
namespace {

// A model whose loss others compute, each over its part of the batch; added up in their order.
class ReplicatedModel final : public Model {
 public:
  ReplicatedModel(std::unique_ptr<Model> model, Clients<GradientReplica> nodes)
      : model_(std::move(model)), replicas_(std::move(nodes)) {}

  Eigen::Index size() const override { return model_->size(); }
  Eigen::VectorXf initialize(std::uint64_t seed) const override { return model_->initialize(seed); }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return model_->scores(parameters, features);
  }
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    const auto examples = static_cast<std::uint64_t>(batch.examples());
    const std::uint64_t count = replicas_.size();
    std::vector<Future<PartialGradient>> futures;
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t begin = examples * k / count;
      std::vector<std::uint32_t> part(examples * (k + 1) / count - begin);
      std::iota(part.begin(), part.end(), static_cast<std::uint32_t>(begin));
      futures.push_back(replicas_[k].async<&GradientReplica::gradient>(parameters, gather(batch, part)));
    }
    double loss = 0;
    gradient.setZero(size());
    for (std::size_t k = 0; const PartialGradient& one : when_all(std::move(futures)).get()) {
      loss += one.loss;
      if (k++ == 0) {
        gradient = one.gradient;
      } else {
        gradient += one.gradient;
      }
    }
    return loss;
  }

 private:
  std::unique_ptr<Model> model_;
  Clients<GradientReplica> replicas_;
};

}  // namespace

PartialGradient GradientReplica::gradient(const Eigen::VectorXf& parameters, const Dataset& batch) const {
  PartialGradient out;
  out.loss = model_->loss(parameters, batch, out.gradient);
  return out;
}

InGraphClient::InGraphClient(Clients<ParameterService> servers, const Clients<GradientReplica>& nodes,
                             std::vector<Tensor> tensors, LearningTask task, const ServerTraining& training,
                             Scheme scheme)
    : TrainingWorker(
          std::move(servers), std::move(tensors),
          {.model = [model = task.model, nodes] { return std::make_unique<ReplicatedModel>(model(), nodes); },
           .data = task.data},
          training, std::move(scheme)) {}

TrainingGraph add_in_graph_training(Program& program, const LearningTask& task, const ServerTraining& training) {
  const Scheme scheme = synchronous_scheme(training);
  const auto servers = add_servers(program, task, training, scheme, /*pushers=*/1);
  const FailurePolicy policy = training.restarts > 0 ? restart(training.restarts) : kStopProgram;
  const auto group =
      program.group<GradientReplica>({.name = "replica", .replicas = training.workers, .on_failure = policy}, task);
  const auto client = program.group<InGraphClient>({.name = "worker", .on_failure = policy, .ends_program = true},
                                                   GroupHandle<ParameterService>(servers), group,
                                                   SchemeTensors{task, training, scheme}, task, training, scheme);
  return {servers, client};
}

}  // namespace lp
