#include "programs/schemes/outer_product.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

struct Layer {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::size_t begin = 0;  // where its weights, then biases, begin in the parameters

  std::size_t size() const { return (std::size_t{inputs} + 1) * outputs; }
};

std::vector<Layer> layers_of(const std::vector<Eigen::Index>& units) {
  std::vector<Layer> out;
  for (std::size_t i = 0; i + 1 < units.size(); ++i) {
    out.push_back({.inputs = static_cast<std::uint32_t>(units[i]),
                   .outputs = static_cast<std::uint32_t>(units[i + 1]),
                   .begin = out.empty() ? 0 : out.back().begin + out.back().size()});
  }
  return out;
}

// A perceptron whose gradient is computed in factors.
class FactoredMlp final : public Model {
 public:
  FactoredMlp(const OuterProducts& products, std::function<std::unique_ptr<Model>()> whole)
      : mlp_(products.units, products.activation), whole_(std::move(whole)) {}

  Eigen::Index size() const override { return mlp_.size(); }
  Eigen::VectorXf initialize(std::uint64_t seed) const override { return whole_()->initialize(seed); }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return mlp_.scores(parameters, features);
  }
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& factors) const override {
    return mlp_.loss_in_factors(parameters, batch, factors);
  }

 private:
  const Mlp mlp_;
  const std::function<std::unique_ptr<Model>()> whole_;  // the task's model, which gives the initial parameters
};

class OuterProductExchange final : public Exchange {
 public:
  OuterProductExchange(const ExchangeParts& parts, const OuterProducts& products, std::uint32_t workers)
      : servers_(parts.servers),
        layers_(layers_of(products.units)),
        worker_(parts.worker),
        workers_(workers),
        epoch_(static_cast<double>(parts.examples) / parts.training.batch),
        epoch_end_(static_cast<std::uint64_t>(std::max(1.0, std::ceil(products.epoch_share * epoch_)))),
        parameters_(parts.model.size()) {}

  std::uint64_t begin() override { return servers_.position(); }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows&) override {
    const std::span<float> to = flat(parameters_);
    wait_all([&](std::uint32_t i, const Layer& layer) {
      return servers_.start_pull(i, /*clock=*/0, to.subspan(layer.begin, layer.size()));
    });
    return parameters_;
  }
  std::uint64_t push(std::uint64_t step, const Rows&, const BatchGradient& batch) override {
    std::span<const float> factors = flat(batch.gradient);
    const std::uint64_t done = wait_all([&](std::uint32_t i, const Layer& layer) {
      const std::size_t size = std::size_t{batch.examples} * (layer.inputs + layer.outputs);
      Encoded encoded = outer_product(Array<float>::copy_of(factors.first(size)), layer.outputs, layer.inputs);
      factors = factors.subspan(size);
      return servers_.start_push(i, step, std::move(encoded), batch.examples);
    });
    return std::max(step + 1, first_step(done / epoch_end_));
  }
  void end() override { servers_.leave(); }

 private:
  // Starts a request start(number, layer) for each layer, all at once. Returns how many gradients the last layer has.
  template <class Start>
  std::uint64_t wait_all(Start start) {
    std::vector<ParameterClient::Request> requests;
    for (std::uint32_t i = 0; i < layers_.size(); ++i) requests.push_back(start(i, layers_[i]));
    std::uint64_t version = kUnbounded;
    for (ParameterClient::Request& one : requests) version = std::min(version, servers_.wait(std::move(one)).newest);
    return version;
  }
  // This worker's first step of an epoch.
  std::uint64_t first_step(std::uint64_t epoch) const {
    const auto batch = static_cast<std::uint64_t>(std::ceil(static_cast<double>(epoch) * epoch_));
    return batch <= worker_ ? 0 : (batch - worker_ + workers_ - 1) / workers_;
  }

  ParameterClient& servers_;
  const std::vector<Layer> layers_;
  const std::uint32_t worker_;
  const std::uint32_t workers_;
  const double epoch_;             // batches, of all workers
  const std::uint64_t epoch_end_;  // the number of batches after which an epoch ends
  Eigen::VectorXf parameters_;
};

}  // namespace

TrainingGraph add_outer_product_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                         const OuterProducts& products) {
  if (!(products.epoch_share > 0 && products.epoch_share <= 1)) {
    throw Error(ErrorKind::failed, "an epoch would end after a share of " + std::to_string(products.epoch_share) +
                                       " of its batches: give more than 0 and at most 1");
  }
  if (training.compression.any()) {
    throw Error(ErrorKind::failed, "activations and errors cannot be compressed: leave out the compression");
  }
  const LearningTask factored{
      .model = [products, whole = task.model] { return std::make_unique<FactoredMlp>(products, whole); },
      .data = task.data,
      .device = task.device};
  factored.model();  // throws if the units do not fit
  const auto workers = static_cast<std::uint32_t>(training.workers);
  return add_server_training(
      program, factored, training,
      {.consistency = Asynchronous{},
       .rule = training.rule,
       .division = Division::turns,
       .spare_workers = training.workers - 1,
       .exchange =
           [products, workers](const ExchangeParts& parts) {
             return std::make_unique<OuterProductExchange>(parts, products, workers);
           },
       .tensors =
           [products](const LearningTask& of, const ServerTraining& all) {
             std::vector<Tensor> tensors;
             for (const Layer& layer : layers_of(products.units)) {
               const auto servers = static_cast<std::uint32_t>(all.servers);
               const auto owner = static_cast<std::uint32_t>(tensors.size() % servers);
               const auto initial = [all = initial_parameters(of), layer](std::uint64_t run_seed) {
                 const std::vector<float> values = all(run_seed);
                 const auto begin = values.begin() + static_cast<std::ptrdiff_t>(layer.begin);
                 return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(layer.size()));
               };
               tensors.push_back({.partition = Partition::whole(layer.size(), servers, owner), .initial = initial});
             }
             return tensors;
           }});
}

}  // namespace lp
