#include "programs/schemes/sliced.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "programs/training/synchronous.h"

namespace lp {
namespace {

// Like synchronous, but a worker's own parameters are a result.
class SlicedExchange final : public Exchange {
 public:
  explicit SlicedExchange(std::unique_ptr<Exchange> synchronous) : synchronous_(std::move(synchronous)) {}

  std::uint64_t begin() override { return next_ = synchronous_->begin(); }
  const Eigen::VectorXf& parameters(std::uint64_t step, const Rows& rows) override {
    return synchronous_->parameters(step, rows);
  }
  std::uint64_t push(std::uint64_t step, const Rows& rows, const BatchGradient& batch) override {
    return next_ = synchronous_->push(step, rows, batch);
  }
  std::optional<double> loss() const override { return synchronous_->loss(); }
  std::function<Parameters()> result() const override {
    return [learned = Parameters{.step = next_, .values = synchronous_->parameters(next_, {})}] { return learned; };
  }

 private:
  std::unique_ptr<Exchange> synchronous_;
  std::uint64_t next_ = 0;
};

}  // namespace

Scheme sliced_scheme(const ServerTraining& training) {
  Scheme scheme = synchronous_scheme(training);
  scheme.exchange = [synchronous = scheme.exchange](const ExchangeParts& parts) {
    return std::make_unique<SlicedExchange>(synchronous(parts));
  };
  scheme.tensors = [](const LearningTask& task, const ServerTraining& all) {
    const auto size = static_cast<std::uint64_t>(task.model()->size());
    return std::vector<Tensor>{dense_tensor(task, Partition::slices(size, static_cast<std::uint32_t>(all.servers)))};
  };
  return scheme;
}

TrainingGraph add_sliced_training(Program& program, const LearningTask& task, const ServerTraining& training) {
  if (training.replicated && training.restarts == 0) {
    throw Error(ErrorKind::failed,
                "a server of the scheme sliced shares its process with a worker, whose loss ends the training: give "
                "--restarts with --replicated");
  }
  ServerTraining sliced = training;
  sliced.servers = training.workers;
  TrainingGraph graph = add_server_training(program, task, sliced, sliced_scheme(sliced));
  for (int i = 0; i < training.workers; ++i) program.colocate(graph.workers[i], graph.servers[i]);
  return graph;
}

}  // namespace lp
