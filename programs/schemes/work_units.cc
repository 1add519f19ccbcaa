#include "programs/schemes/work_units.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/rpc/clients.h"
#include "programs/schemes/in_graph.h"
#include "programs/training/decentralized.h"

namespace lp {
namespace {

constexpr std::uint32_t kCopies = 2;  // copies of a unit at a time

// Gives out the units of one batch after the other. The worker begins a batch, and answers arrive in its node's turn.
// They share the Coordinator, since some answers arrive after their batch is complete.
class Coordinator : public std::enable_shared_from_this<Coordinator> {
 public:
  Coordinator(const Clients<GradientReplica>& replicas, std::uint32_t units)
      : replicas_(replicas), units_(units), busy_(replicas.size(), false) {}

  // The results of the units, in the order of the units. Throws the error of the last replica when all have failed.
  std::vector<BatchGradient> run(const Eigen::VectorXf& parameters, const Dataset& batch) {
    Future<void> complete;
    {
      const std::lock_guard lock(mutex_);
      ++batch_number_;
      parameters_ = parameters;
      batch_ = batch;
      done_.assign(units_, std::nullopt);
      given_.assign(units_, 0);
      failed_.assign(replicas_.size(), false);
      left_ = units_;
      complete_ = Promise<void>();
      complete = complete_.future();
    }
    give_to_all();
    complete.get();
    const std::lock_guard lock(mutex_);
    std::vector<BatchGradient> out;
    for (std::optional<BatchGradient>& one : done_) out.push_back(std::move(*one));
    return out;
  }

 private:
  // The next unit, or, when all are given out, a copy of one that is not back.
  std::optional<std::uint32_t> next_unit() const {
    std::optional<std::uint32_t> next;
    for (std::uint32_t unit = 0; unit < units_; ++unit) {
      if (!done_[unit] && given_[unit] < kCopies && (!next || given_[unit] < given_[*next])) next = unit;
    }
    return next;
  }

  void give_to_all() {
    for (std::size_t replica = 0; replica < replicas_.size(); ++replica) give(replica);
  }

  void give(std::size_t replica) {
    std::unique_lock lock(mutex_);
    if (busy_[replica] || failed_[replica] || left_ == 0) return;
    const std::optional<std::uint32_t> unit = next_unit();
    if (!unit) return;
    busy_[replica] = true;
    ++given_[*unit];
    Dataset work = part_of(batch_, *unit, units_);
    Eigen::VectorXf parameters = parameters_;
    const std::uint64_t number = batch_number_;
    lock.unlock();
    Future<BatchGradient> future =
        replicas_[replica].async<&GradientReplica::gradient>(std::move(parameters), std::move(work));
    const Future<void> taken = std::move(future).then(
        [self = shared_from_this(), replica, unit = *unit, number](Future<BatchGradient> answer) {
          self->take(replica, unit, number, std::move(answer));
        });
  }

  void take(std::size_t replica, std::uint32_t unit, std::uint64_t number, Future<BatchGradient> answer) {
    std::optional<Outcome<BatchGradient>> outcome;
    try {
      outcome.emplace(answer.get());
    } catch (const Error& error) {
      outcome.emplace(error);
    }
    {
      const std::lock_guard lock(mutex_);
      busy_[replica] = false;
      if (number == batch_number_ && left_ > 0) {
        if (!outcome->has_value()) {
          fail(replica, unit, outcome->error());
        } else if (!done_[unit]) {
          done_[unit] = std::move(*outcome).value();
          if (--left_ == 0) complete_.set_value();
        }
      }
    }
    give_to_all();
  }

  // Other replicas do its unit, unless it would fail there too.
  void fail(std::size_t replica, std::uint32_t unit, const Error& error) {
    failed_[replica] = true;
    --given_[unit];
    const bool all = std::all_of(failed_.begin(), failed_.end(), [](bool one) { return one; });
    if (!all && error.kind() != ErrorKind::failed) return;
    left_ = 0;
    complete_.set_error(error);
  }

  const Clients<GradientReplica> replicas_;
  const std::uint32_t units_;
  std::mutex mutex_;
  std::vector<bool> busy_;      // also busy with a unit of an earlier batch
  std::vector<bool> failed_{};  // in this batch
  std::uint64_t batch_number_ = 0;
  Eigen::VectorXf parameters_{};
  Dataset batch_{};
  std::vector<std::optional<BatchGradient>> done_{};
  std::vector<std::uint32_t> given_{};  // how many replicas have it
  std::uint32_t left_ = 0;
  Promise<void> complete_{};
};

class WorkUnits final : public DistributedModel {
 public:
  WorkUnits(std::unique_ptr<Model> model, const Clients<GradientReplica>& replicas, std::uint32_t units)
      : DistributedModel(std::move(model)), coordinator_(std::make_shared<Coordinator>(replicas, units)) {}

 private:
  std::vector<BatchGradient> compute(const Eigen::VectorXf& parameters, const Dataset& batch) const override {
    return coordinator_->run(parameters, batch);
  }

  const std::shared_ptr<Coordinator> coordinator_;
};

}  // namespace

TrainingGraph add_work_unit_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                     std::uint32_t units) {
  if (units == 0) throw Error(ErrorKind::failed, "a batch would be split into 0 work units: give 1 or more");
  const auto in_units = [units](std::unique_ptr<Model> model, const Clients<GradientReplica>& group) {
    return std::make_unique<WorkUnits>(std::move(model), group, units);
  };
  return add_distributed_training(program, task, training, in_units, worker_policy(training));
}

}  // namespace lp
