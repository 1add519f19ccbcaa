#include "programs/agents/ppo.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "nodes/parameters/optimizer.h"
#include "programs/agents/categorical.h"
#include "programs/agents/categorical_policy.h"
#include "programs/agents/estimates.h"
#include "programs/agents/ppo_loss.h"
#include "programs/networks/clipping.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::RowVectorXf;
using Eigen::VectorXf;

// Examples, one in a column.
struct Examples {
  MatrixXf observations{};
  RowVectorXf actions{};
  RowVectorXf log_probabilities{};
  RowVectorXf advantages{};
  RowVectorXf returns{};

  void resize(Index inputs, Index count) {
    observations.resize(inputs, count);
    for (RowVectorXf* one : {&actions, &log_probabilities, &advantages, &returns}) one->resize(count);
  }
  void take(const Examples& from, std::span<const Index> columns) {
    resize(from.observations.rows(), static_cast<Index>(columns.size()));
    for (Index i = 0; i < actions.size(); ++i) {
      const Index column = columns[static_cast<std::size_t>(i)];
      observations.col(i) = from.observations.col(column);
      actions(i) = from.actions(column);
      log_probabilities(i) = from.log_probabilities(column);
      advantages(i) = from.advantages(column);
      returns(i) = from.returns(column);
    }
  }
};

// Brings the advantages of a batch to mean 0 and deviation 1.
void normalize(RowVectorXf& advantages) {
  advantages.array() -= advantages.mean();
  const float deviation = std::sqrt(advantages.squaredNorm() / static_cast<float>(advantages.size()));
  advantages /= deviation + 1e-8F;
}

class PpoLearner final : public SegmentLearner {
 public:
  PpoLearner(const PpoOptions& options, const EnvironmentSpec& spec, std::uint64_t seed)
      : options_(options),
        policy_(options.policy(spec.observation, spec.action.choices)),
        value_(options.value(spec.observation, 1)),
        parameters_(policy_->size() + value_->size()),
        gradient_(parameters_.size()) {
    parameters_ << policy_->initialize(seed), value_->initialize(seed + 1);
  }

  Array<float> policy() const override {
    return Array<float>::copy_of({parameters_.data(), static_cast<std::size_t>(policy_->size())});
  }

  MetricValues learn(std::span<const Segment> segments, double progress, Random random) override {
    gather(segments);
    const auto left = static_cast<float>(1 - progress);
    optimizer_.rule = Adam{.rate = options_.rate * left, .epsilon = 1e-5F};
    std::vector<Index> order(static_cast<std::size_t>(all_.actions.size()));
    std::iota(order.begin(), order.end(), Index{0});
    Sums sums;
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      random.shuffle(std::span(order));
      for (std::size_t at = 0; at < order.size(); at += options_.batch) {
        batch_.take(all_, std::span(order).subspan(at, std::min(options_.batch, order.size() - at)));
        update(options_.clip * left, sums);
      }
    }
    return {{"policy_loss", sums.policy / sums.batches},
            {"value_loss", sums.value / sums.batches},
            {"entropy", sums.entropy / sums.batches},
            {"divergence", sums.divergence / sums.batches},
            {"clipped", sums.clipped / sums.batches}};
  }

  void save(Checkpoint& out) const override {
    out.put("parameters", Array<float>::copy_of({parameters_.data(), static_cast<std::size_t>(parameters_.size())}));
    out.put("optimizer", optimizer_);
  }
  void load(const Checkpoint& in) override {
    const auto parameters = in.get<Array<float>>("parameters");
    if (parameters.size() != static_cast<std::size_t>(parameters_.size())) {
      throw Error(ErrorKind::failed, "a checkpoint of " + std::to_string(parameters.size()) +
                                         " parameters is not of these networks, which have " +
                                         std::to_string(parameters_.size()));
    }
    std::copy(parameters.begin(), parameters.end(), parameters_.data());
    optimizer_ = in.get<Optimizer>("optimizer");
  }

 private:
  struct Sums {
    double batches = 0;
    double policy = 0;
    double value = 0;
    double entropy = 0;
    double divergence = 0;
    double clipped = 0;
  };

  auto policy_parameters() const { return parameters_.head(policy_->size()); }
  auto value_parameters() const { return parameters_.tail(value_->size()); }

  // Sets all_ to the examples of the segments, in their order.
  void gather(std::span<const Segment> segments) {
    Index count = 0;
    for (const Segment& one : segments) count += one.rewards.size();
    all_.resize(policy_->inputs(), count);
    Index at = 0;
    for (const Segment& one : segments) {
      const Index size = one.rewards.size();
      const Trajectory trajectory = trajectory_of(one, *value_, value_parameters());
      const MatrixXf found = advantages(trajectory, options_.discount, options_.decay);
      all_.observations.middleCols(at, size) = one.observations.leftCols(size);
      all_.actions.segment(at, size) = one.actions;
      all_.log_probabilities.segment(at, size) = one.log_probabilities.reshaped<Eigen::AutoOrder>(1, size);
      all_.advantages.segment(at, size) = found.reshaped<Eigen::AutoOrder>(1, size);
      all_.returns.segment(at, size) = (found + trajectory.values).reshaped<Eigen::AutoOrder>(1, size);
      at += size;
    }
  }

  // One step by the gradient of batch_.
  void update(float clip, Sums& sums) {
    normalize(batch_.advantages);
    logs_ = policy_->forward(policy_parameters(), batch_.observations);
    log_softmax(logs_);
    const ClippedLoss loss =
        clipped_loss(chosen(logs_, batch_.actions), batch_.log_probabilities, batch_.advantages, clip);
    const auto count = static_cast<float>(logs_.cols());
    errors_.setZero(logs_.rows(), logs_.cols());
    add_errors(logs_, batch_.actions, loss.errors, -options_.entropy / count, errors_);
    policy_->backward(policy_parameters(), batch_.observations, errors_, gradient_.head(policy_->size()));

    value_errors_ = value_->forward(value_parameters(), batch_.observations) - batch_.returns;
    sums.value += static_cast<double>(value_errors_.squaredNorm() / count);
    value_errors_ /= count;  // half of the mean square
    value_->backward(value_parameters(), batch_.observations, value_errors_, gradient_.tail(value_->size()));

    clip_norm(gradient_, options_.most_norm);
    const auto size = static_cast<std::size_t>(parameters_.size());
    optimizer_.apply({parameters_.data(), size}, {gradient_.data(), size});
    ++sums.batches;
    sums.policy += static_cast<double>(loss.loss);
    sums.entropy += static_cast<double>(entropies(logs_).mean());
    sums.divergence += static_cast<double>(loss.divergence);
    sums.clipped += static_cast<double>(loss.clipped);
  }

  const PpoOptions options_;
  const std::unique_ptr<Network> policy_;
  const std::unique_ptr<Network> value_;
  VectorXf parameters_;  // the policy's, then the value's
  VectorXf gradient_;
  Optimizer optimizer_{};
  // Memory of learn().
  Examples all_{};
  Examples batch_{};
  MatrixXf logs_{};
  MatrixXf errors_{};
  MatrixXf value_errors_{};
};

}  // namespace

Agent ppo(const PpoOptions& options) {
  return {.name = "ppo",
          .policy = categorical_policy(options.policy),
          .copies = options.copies,
          .steps = options.steps,
          .training = Rounds{[options](const EnvironmentSpec& spec, std::uint64_t seed) {
            need_choices(spec, "PPO");
            if (options.batch == 0 || options.epochs < 1) {
              throw Error(ErrorKind::failed, "PPO with batches of " + std::to_string(options.batch) + " in " +
                                                 std::to_string(options.epochs) + " epochs: give 1 of each at least");
            }
            return std::make_unique<PpoLearner>(options, spec, seed);
          }}};
}

}  // namespace lp
