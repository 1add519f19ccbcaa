#include "programs/schemes/in_graph.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "programs/training/synchronous.h"
#include "programs/training/worker.h"

namespace lp {
namespace {

// Each replica computes a part.
class ReplicatedModel final : public DistributedModel {
 public:
  ReplicatedModel(std::unique_ptr<Model> model, Clients<GradientReplica> replicas)
      : DistributedModel(std::move(model)), replicas_(std::move(replicas)) {}

 private:
  std::vector<BatchGradient> compute(const Eigen::VectorXf& parameters, const Dataset& batch) const override {
    std::vector<Future<BatchGradient>> futures;
    for (std::size_t k = 0; k < replicas_.size(); ++k) {
      futures.push_back(
          replicas_[k].async<&GradientReplica::gradient>(parameters, part_of(batch, k, replicas_.size())));
    }
    return when_all(std::move(futures)).get();
  }

  const Clients<GradientReplica> replicas_;
};

// The task of the one client, for which replicas compute.
struct DistributedTask {
  LearningTask task;
  GroupHandle<GradientReplica> replicas;
  Distribute distribute;

  LearningTask dereference(Context& client) const {
    return {.model = [model = task.model, compute = distribute,
                      all = replicas.dereference(client)] { return compute(model(), all); },
            .data = task.data};
  }
  void append_nodes(std::vector<std::string>& names) const { replicas.append_nodes(names); }
};

}  // namespace

BatchGradient GradientReplica::gradient(const Eigen::VectorXf& parameters, const Dataset& batch) const {
  BatchGradient out{.examples = static_cast<std::uint32_t>(batch.examples())};
  out.loss = model_->loss(parameters, batch, out.gradient);
  return out;
}

double DistributedModel::loss(const Eigen::VectorXf& parameters, const Dataset& batch,
                              Eigen::VectorXf& gradient) const {
  double loss = 0;
  gradient.setZero(size());
  for (std::size_t k = 0; const BatchGradient& one : compute(parameters, batch)) {
    loss += one.loss;
    if (k++ == 0) {
      gradient = one.gradient;
    } else {
      gradient += one.gradient;
    }
  }
  return loss;
}

Dataset part_of(const Dataset& batch, std::uint64_t part, std::uint64_t parts) {
  const auto examples = static_cast<std::uint64_t>(batch.examples());
  const std::uint64_t begin = examples * part / parts;
  std::vector<std::uint32_t> own(examples * (part + 1) / parts - begin);
  std::iota(own.begin(), own.end(), static_cast<std::uint32_t>(begin));
  return gather(batch, own);
}

TrainingGraph add_distributed_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                       const Distribute& distribute, FailurePolicy replica_failure) {
  const Scheme scheme = synchronous_scheme(training);
  const auto servers = add_servers(program, task, training, scheme, /*pushers=*/1);
  const auto group = program.group<GradientReplica>(
      {.name = "replica", .replicas = training.workers, .on_failure = replica_failure, .device = task.device}, task);
  const GroupHandle<ParameterService> services(servers);
  const auto client = add_workers(
      program, {.name = "worker", .on_failure = restart_or_stop(training), .ends_program = true}, services, services,
      SchemeTensors{task, training, scheme}, DistributedTask{task, group, distribute}, training, scheme);
  return {servers, client};
}

TrainingGraph add_in_graph_training(Program& program, const LearningTask& task, const ServerTraining& training) {
  const auto replicate = [](std::unique_ptr<Model> model, const Clients<GradientReplica>& group) {
    return std::make_unique<ReplicatedModel>(std::move(model), group);
  };
  return add_distributed_training(program, task, training, replicate, restart_or_stop(training));
}

}  // namespace lp
