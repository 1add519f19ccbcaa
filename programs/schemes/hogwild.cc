#include "programs/schemes/hogwild.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <variant>

#include "lp/base/error.h"
#include "nodes/shared_vector.h"
#include "programs/training/decentralized.h"
#include "programs/training/gradient_guard.h"
#include "programs/training/rows.h"

namespace lp {
namespace {

class HogwildExchange final : public Exchange {
 public:
  HogwildExchange(const ExchangeParts& parts, const Client<SharedVector>& vector)
      : vector_(vector),
        worker_(parts.worker),
        size_(static_cast<std::size_t>(parts.model.size())),
        width_(static_cast<std::size_t>(parts.model.width())),
        rate_(std::get<Sgd>(parts.training.rule).rate),
        checkpoint_every_(parts.training.checkpoint_every),
        guard_(parts.training.bad_values, parts.worker) {}

  std::uint64_t begin() override {
    location_ = vector_.call<&SharedVector::location>();
    view_.emplace(location_);
    if (view_->size() != size_) {
      throw Error(ErrorKind::failed, "the shared vector has " + std::to_string(view_->size()) +
                                         " parameters, but this worker's model has " + std::to_string(size_));
    }
    return view_->progress(worker_);
  }
  const Eigen::VectorXf& parameters(std::uint64_t, const Rows& rows) override {
    parameters_.resize(static_cast<Eigen::Index>(rows.empty() ? size_ : rows.size() * width_));
    if (rows.empty()) view_->read(0, flat(parameters_));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      view_->read(rows[i] * width_, flat(parameters_).subspan(i * width_, width_));
    }
    return parameters_;
  }
  std::uint64_t push(std::uint64_t step, const Rows& rows, const BatchGradient& batch) override {
    const std::span<const float> values = flat(guard_.checked(step, batch.gradient));
    const float rate = rate_ / static_cast<float>(batch.examples);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) view_->add(rows.empty() ? i : rows[i / width_] * width_ + i % width_, -rate * values[i]);
    }
    view_->set_progress(worker_, step + 1);
    if (checkpoint_every_ > 0 && (step + 1) % checkpoint_every_ == 0)
      vector_.call<&SharedVector::cut_when_due>(location_);
    return step + 1;
  }
  void end() override { vector_.call<&SharedVector::cut_when_due>(location_); }
  // The vector, which others may still change when this worker has ended.
  std::function<Parameters()> result() const override {
    return [vector = vector_] {
      const std::uint64_t updates = vector.call<&SharedVector::updates>();
      const Array<float> values = vector.call<&SharedVector::values>();
      return Parameters{
          .step = updates,
          .values = Eigen::Map<const Eigen::VectorXf>(values.data(), static_cast<Eigen::Index>(values.size()))};
    };
  }

 private:
  const Client<SharedVector> vector_;
  const std::uint32_t worker_;
  const std::size_t size_;
  const std::size_t width_;
  const float rate_;
  const std::uint64_t checkpoint_every_;
  GradientGuard guard_;
  SharedVectorLocation location_{};
  std::optional<SharedVectorView> view_{};  // view of location_
  Eigen::VectorXf parameters_{};
};

}  // namespace

TrainingGraph add_hogwild_training(Program& program, const LearningTask& task, const ServerTraining& training) {
  if (!std::holds_alternative<Sgd>(training.rule)) {
    throw Error(ErrorKind::failed, "Hogwild has no optimizer state: choose the rule sgd");
  }
  // A cut is taken after this many steps of each worker.
  const auto workers = static_cast<std::uint32_t>(std::max(training.workers, 0));
  const auto vector = program.add<SharedVector>(
      {.name = "vector", .on_failure = restart_or_stop(training)}, context, initial_parameters(task), workers,
      CutSchedule{.every = training.checkpoint_every * workers, .last = training.steps});
  return add_decentralized_workers(
      program, task, training,
      BoundScheme<Handle<SharedVector>>{.scheme = {.division = Division::turns, .takes_rows = true},
                                        .nodes = vector,
                                        .exchange = [](const ExchangeParts& parts, const Client<SharedVector>& client) {
                                          return std::make_unique<HogwildExchange>(parts, client);
                                        }});
}

}  // namespace lp
