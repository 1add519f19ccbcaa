#include "programs/agents/ppo.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "programs/agents/action_distribution.h"
#include "programs/agents/actor_critic.h"
#include "programs/agents/estimates.h"
#include "programs/agents/ppo_loss.h"
#include "programs/agents/random_policy.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::RowVectorXf;

// Examples, one in a column.
struct Examples {
  MatrixXf observations{};
  MatrixXf actions{};
  RowVectorXf log_probabilities{};
  RowVectorXf advantages{};
  RowVectorXf returns{};

  Index count() const { return advantages.size(); }
  void resize(Index inputs, Index values, Index count) {
    observations.resize(inputs, count);
    actions.resize(values, count);
    for (RowVectorXf* one : {&log_probabilities, &advantages, &returns}) one->resize(count);
  }
  void take(const Examples& from, std::span<const Index> columns) {
    resize(from.observations.rows(), from.actions.rows(), static_cast<Index>(columns.size()));
    for (Index i = 0; i < count(); ++i) {
      const Index column = columns[static_cast<std::size_t>(i)];
      observations.col(i) = from.observations.col(column);
      actions.col(i) = from.actions.col(column);
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
        distribution_(action_distribution(spec.action)),
        networks_(options.policy, options.value, spec, seed) {}

  Array<float> policy() const override { return networks_.published(); }

  MetricValues learn(std::span<const Segment> segments, double progress, Random random) override {
    gather(segments);
    const auto left = static_cast<float>(1 - progress);
    std::vector<Index> order(static_cast<std::size_t>(all_.count()));
    std::iota(order.begin(), order.end(), Index{0});
    Sums sums;
    for (int epoch = 0; epoch < options_.epochs; ++epoch) {
      random.shuffle(std::span(order));
      for (std::size_t at = 0; at < order.size(); at += options_.batch) {
        batch_.take(all_, std::span(order).subspan(at, std::min(options_.batch, order.size() - at)));
        update(left, sums);
      }
    }
    return {{"policy_loss", sums.policy / sums.batches},
            {"value_loss", sums.value / sums.batches},
            {"entropy", sums.entropy / sums.batches},
            {"divergence", sums.divergence / sums.batches},
            {"clipped", sums.clipped / sums.batches}};
  }

  void save(Checkpoint& out) const override { networks_.save(out); }
  void load(const Checkpoint& in) override { networks_.load(in); }

 private:
  struct Sums {
    double batches = 0;
    double policy = 0;
    double value = 0;
    double entropy = 0;
    double divergence = 0;
    double clipped = 0;
  };

  // Sets all_ to the examples of the segments, in their order.
  void gather(std::span<const Segment> segments) {
    Index count = 0;
    for (const Segment& one : segments) count += one.rewards.size();
    all_.resize(networks_.policy().inputs(), segments[0].actions.rows(), count);
    Index at = 0;
    for (const Segment& one : segments) {
      const Index size = one.rewards.size();
      const Trajectory trajectory = trajectory_of(one, networks_.value(), networks_.value_parameters());
      const MatrixXf found = advantages(trajectory, options_.discount, options_.decay);
      all_.observations.middleCols(at, size) = one.observations.leftCols(size);
      all_.actions.middleCols(at, size) = one.actions;
      all_.log_probabilities.segment(at, size) = one.log_probabilities.reshaped<Eigen::AutoOrder>(1, size);
      all_.advantages.segment(at, size) = found.reshaped<Eigen::AutoOrder>(1, size);
      all_.returns.segment(at, size) = (found + trajectory.values).reshaped<Eigen::AutoOrder>(1, size);
      at += size;
    }
  }

  // One step by the gradient of batch_. `left` is the share of the training that is left.
  void update(float left, Sums& sums) {
    const auto count = static_cast<float>(batch_.count());
    normalize(batch_.advantages);
    outputs_ = networks_.policy().forward(networks_.policy_parameters(), batch_.observations);
    distribution_->normalize(outputs_);
    const ClippedLoss loss = clipped_loss(distribution_->log_probabilities(outputs_, batch_.actions),
                                          batch_.log_probabilities, batch_.advantages, options_.clip * left);
    errors_.setZero(outputs_.rows(), outputs_.cols());
    distribution_->add_errors(outputs_, batch_.actions, loss.errors, -options_.entropy / count, errors_);
    networks_.policy().backward(networks_.policy_parameters(), batch_.observations, errors_,
                                networks_.policy_gradient());

    value_errors_ = networks_.value().forward(networks_.value_parameters(), batch_.observations) - batch_.returns;
    sums.value += static_cast<double>(value_errors_.squaredNorm() / count);
    value_errors_ /= count;  // half of the mean square
    networks_.value().backward(networks_.value_parameters(), batch_.observations, value_errors_,
                               networks_.value_gradient());

    networks_.apply({.rate = options_.rate * left, .epsilon = 1e-5F}, options_.most_norm);
    ++sums.batches;
    sums.policy += static_cast<double>(loss.loss);
    sums.entropy += static_cast<double>(distribution_->entropies(outputs_).mean());
    sums.divergence += static_cast<double>(loss.divergence);
    sums.clipped += static_cast<double>(loss.clipped);
  }

  const PpoOptions options_;
  const std::unique_ptr<ActionDistribution> distribution_;
  ActorCritic networks_;
  // Memory of learn().
  Examples all_{};
  Examples batch_{};
  MatrixXf outputs_{};
  MatrixXf errors_{};
  MatrixXf value_errors_{};
};

}  // namespace

Agent ppo(const PpoOptions& options) {
  return {.name = "ppo",
          .policy = random_policy(options.policy),
          .copies = options.copies,
          .steps = options.steps,
          .training = Rounds{[options](const EnvironmentSpec& spec, std::uint64_t seed) {
            if (options.batch == 0 || options.epochs < 1) {
              throw Error(ErrorKind::failed, "PPO with batches of " + std::to_string(options.batch) + " in " +
                                                 std::to_string(options.epochs) + " epochs: give at least 1 of each");
            }
            return std::make_unique<PpoLearner>(options, spec, seed);
          }}};
}

}  // namespace lp
