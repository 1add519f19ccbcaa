#include "programs/schemes/stale_synchronous.h"

#include <memory>
#include <numeric>
#include <span>
#include <variant>
#include <vector>

#include "lp/base/error.h"
#include "nodes/parameters/optimizer.h"
#include "programs/schemes/row_cache.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

// The number of parameters in a row of a model: the model's own width, or else this default.
std::uint32_t width_of(const Model& model) {
  return model.width() > 0 ? static_cast<std::uint32_t>(model.width()) : 16;
}
std::uint64_t rows_of(const Model& model) {
  return (static_cast<std::uint64_t>(model.size()) + width_of(model) - 1) / width_of(model);
}

class StaleSynchronousExchange final : public Exchange {
 public:
  StaleSynchronousExchange(const ExchangeParts& parts, std::uint64_t staleness)
      : servers_(parts.servers),
        model_(parts.model),
        rule_(parts.training.rule),
        width_(width_of(parts.model)),
        cache_(width_, staleness),
        all_(rows_of(parts.model)) {
    const std::span<std::uint64_t> keys = all_.edit();
    std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  }

  std::uint64_t begin() override {
    cache_.clear();
    optimizer_ = {.rule = rule_};
    return servers_.position();
  }
  const Eigen::VectorXf& parameters(std::uint64_t step, const Rows& rows) override {
    const Rows& keys = rows.empty() ? all_ : rows;
    const Rows stale = cache_.stale(keys, step);
    if (!stale.empty()) {
      fetched_.resize(stale.size() * width_);
      const Arrival arrival = servers_.wait(servers_.start_pull_rows(0, step, stale, fetched_));
      cache_.put(stale, fetched_, arrival.slowest);
    }
    values_.resize(keys.size() * width_);
    cache_.read(keys, values_);
    const std::size_t used = rows.empty() ? static_cast<std::size_t>(model_.size()) : values_.size();
    parameters_ = Eigen::Map<const Eigen::VectorXf>(values_.data(), static_cast<Eigen::Index>(used));
    return parameters_;
  }
  std::uint64_t push(std::uint64_t step, const Rows& rows, const BatchGradient& batch) override {
    const Rows& keys = rows.empty() ? all_ : rows;
    auto changes = Array<float>(values_.size());
    if (batch.examples > 0) set_changes(rows, batch.gradient / static_cast<float>(batch.examples), changes.edit());
    servers_.wait(servers_.start_push_rows(0, step, keys, changes, /*examples=*/0));
    cache_.add(keys, changes.span());
    return step + 1;
  }
  void end() override { servers_.leave(); }

 private:
  // Computes the rule's changes of this worker's copy.
  void set_changes(const Rows& rows, const Eigen::VectorXf& mean, std::span<float> changes) {
    std::vector<float> changed = values_;
    const std::span<float> used = std::span(changed).first(static_cast<std::size_t>(mean.size()));
    if (rows.empty()) {
      optimizer_.apply(used, flat(mean));
    } else if (std::holds_alternative<Sgd>(rule_)) {  // has no state, which would be that of other rows
      optimizer_.apply_part(used, 0, flat(mean));
    } else {
      throw Error(ErrorKind::failed, "stale synchronous training of a sparse model needs the rule Sgd");
    }
    for (std::size_t i = 0; i < changes.size(); ++i) changes[i] = changed[i] - values_[i];
  }

  ParameterClient& servers_;
  const Model& model_;
  OptimizerRule rule_;
  Optimizer optimizer_{};
  const std::uint32_t width_;
  RowCache cache_;
  Rows all_;
  std::vector<float> fetched_{};  // fetched rows
  std::vector<float> values_{};   // the rows that were read last; the last row is padded with zeros
  Eigen::VectorXf parameters_{};
};

std::vector<Tensor> row_tensor(const LearningTask& task, const ServerTraining& training) {
  const std::unique_ptr<Model> model = task.model();
  const std::uint64_t rows = rows_of(*model);
  Tensor tensor = dense_tensor(task, Partition::ring(rows, static_cast<std::uint32_t>(training.servers)));
  tensor.width = width_of(*model);
  tensor.initial = [size = rows * tensor.width, all = tensor.initial](std::uint64_t seed) {
    std::vector<float> values = all(seed);
    values.resize(size);
    return values;
  };
  return {tensor};
}

}  // namespace

Scheme stale_synchronous_scheme(const ServerTraining& training, std::uint64_t staleness) {
  if (training.compression.any()) {
    throw Error(ErrorKind::failed,
                "stale synchronous workers push changes of rows, which cannot be compressed: leave out the "
                "compression, or choose a scheme that pushes gradients, such as bounded_delay");
  }
  return {.consistency = StaleSynchronous{.staleness = staleness},
          .rule = Sum{},
          .division = Division::turns,
          .takes_rows = true,
          .exchange =
              [staleness](const ExchangeParts& parts) {
                return std::make_unique<StaleSynchronousExchange>(parts, staleness);
              },
          .tensors = row_tensor};
}

}  // namespace lp
