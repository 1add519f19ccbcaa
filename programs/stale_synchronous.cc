#include "programs/stale_synchronous.h"

#include <memory>
#include <numeric>
#include <vector>

#include "nodes/optimizer.h"
#include "programs/flat.h"
#include "programs/row_cache.h"

namespace lp {
namespace {

constexpr std::uint32_t kWidth = 16;  // parameters of a row

std::uint64_t rows_of(const Model& model) { return (static_cast<std::uint64_t>(model.size()) + kWidth - 1) / kWidth; }

class StaleSynchronousExchange final : public Exchange {
 public:
  StaleSynchronousExchange(const ExchangeParts& parts, std::uint64_t staleness)
      : servers_(parts.servers),
        rule_(parts.training.rule),
        cache_(kWidth, staleness),
        parameters_(parts.model.size()),
        rows_(rows_of(parts.model) * kWidth),
        fetched_(rows_.size()),
        keys_(rows_of(parts.model)) {
    const std::span<std::uint64_t> keys = keys_.edit();
    std::iota(keys.begin(), keys.end(), std::uint64_t{0});
  }

  std::uint64_t begin() override {
    cache_.clear();
    optimizer_ = {.rule = rule_};
    return servers_.position();
  }
  const Eigen::VectorXf& parameters(std::uint64_t step) override {
    const Array<std::uint64_t> stale = cache_.stale(keys_, step);
    if (!stale.empty()) {
      const std::span<float> fetched = std::span(fetched_).first(stale.size() * kWidth);
      const Arrival arrival = servers_.wait(servers_.start_pull_rows(0, step, stale, fetched));
      cache_.put(stale, fetched, arrival.slowest);
    }
    cache_.read(keys_, rows_);
    std::copy_n(rows_.data(), parameters_.size(), parameters_.data());
    return parameters_;
  }
  std::uint64_t push(std::uint64_t step, const Eigen::VectorXf& gradient, std::uint32_t examples) override {
    std::vector<float> changed = rows_;
    if (examples > 0) {
      const Eigen::VectorXf mean = gradient / static_cast<float>(examples);
      optimizer_.apply(std::span(changed).first(static_cast<std::size_t>(mean.size())), flat(mean));
    }
    auto changes = Array<float>::uninitialized(rows_.size());
    const std::span<float> to = changes.edit();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = changed[i] - rows_[i];
    servers_.wait(servers_.start_push_rows(0, step, keys_, changes, /*examples=*/0));
    cache_.add(keys_, changes.span());
    return step + 1;
  }
  void end() override { servers_.leave(); }

 private:
  ParameterClient& servers_;
  OptimizerRule rule_;
  Optimizer optimizer_{};
  RowCache cache_;
  Eigen::VectorXf parameters_;
  std::vector<float> rows_;     // the parameters, and zeros to the end of the last row
  std::vector<float> fetched_;  // room for rows that come
  Array<std::uint64_t> keys_;   // of all rows
};

std::vector<Tensor> row_tensor(const LearningTask& task, const ServerTraining& training) {
  const std::uint64_t rows = rows_of(*task.model());
  Tensor tensor = dense_tensor(task, Partition::ring(rows, static_cast<std::uint32_t>(training.servers)));
  tensor.width = kWidth;
  tensor.initial = [rows, all = tensor.initial](std::uint64_t seed) {
    std::vector<float> values = all(seed);
    values.resize(rows * kWidth);
    return values;
  };
  return {tensor};
}

}  // namespace

Scheme stale_synchronous_scheme(const ServerTraining&, std::uint64_t staleness) {
  return {.consistency = StaleSynchronous{.staleness = staleness},
          .rule = Sum{},
          .division = Division::turns,
          .exchange =
              [staleness](const ExchangeParts& parts) {
                return std::make_unique<StaleSynchronousExchange>(parts, staleness);
              },
          .tensors = row_tensor};
}

}  // namespace lp
