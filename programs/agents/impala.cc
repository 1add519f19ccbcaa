#include "programs/agents/impala.h"

#include <memory>
#include <span>

#include "programs/agents/actor_critic.h"
#include "programs/agents/categorical.h"
#include "programs/agents/estimates.h"
#include "programs/agents/random_policy.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::RowVectorXf;

class ImpalaLearner final : public SegmentLearner {
 public:
  ImpalaLearner(const ImpalaOptions& options, const EnvironmentSpec& spec, std::uint64_t seed)
      : options_(options), networks_(options.policy, options.value, spec, seed) {}

  Array<float> policy() const override { return networks_.published(); }

  // A step by the mean gradient of each segment.
  MetricValues learn(std::span<const Segment> segments, double progress, Random) override {
    double policy_loss = 0;
    double value_loss = 0;
    double entropy = 0;
    for (const Segment& segment : segments) {
      const auto size = static_cast<double>(segment.rewards.size());
      update(segment, static_cast<float>(1 - progress));
      policy_loss -= log_gain_ / size / static_cast<double>(segments.size());
      value_loss += static_cast<double>(value_errors_.squaredNorm()) * size / static_cast<double>(segments.size());
      entropy += static_cast<double>(entropies(logs_).mean()) / static_cast<double>(segments.size());
    }
    return {{"policy_loss", policy_loss}, {"value_loss", value_loss}, {"entropy", entropy}};
  }

  void save(Checkpoint& out) const override { networks_.save(out); }
  void load(const Checkpoint& in) override { networks_.load(in); }

 private:
  void update(const Segment& segment, float left) {
    const Index size = segment.rewards.size();
    const auto count = static_cast<float>(size);
    const Trajectory trajectory = trajectory_of(segment, networks_.value(), networks_.value_parameters());
    observations_ = segment.observations.leftCols(size);
    logs_ = networks_.policy().forward(networks_.policy_parameters(), observations_);
    log_softmax(logs_);
    const RowVectorXf acted = chosen(logs_, segment.actions);
    const MatrixXf log_ratios = acted.reshaped(segment.copies(), segment.steps()) - segment.log_probabilities;
    const Vtrace targets = vtrace(trajectory, log_ratios, options_.vtrace);

    const RowVectorXf advantage = targets.advantages.reshaped(1, size);
    log_gain_ = static_cast<double>(advantage.dot(acted));
    errors_.setZero(logs_.rows(), size);
    add_errors(logs_, segment.actions, -advantage / count, -options_.entropy / count, errors_);
    networks_.policy().backward(networks_.policy_parameters(), observations_, errors_, networks_.policy_gradient());

    value_errors_ = networks_.value().forward(networks_.value_parameters(), observations_);
    value_errors_ = (value_errors_ - targets.values.reshaped(1, size)) / count;  // half of the mean square
    networks_.value().backward(networks_.value_parameters(), observations_, value_errors_, networks_.value_gradient());
    networks_.apply({.rate = options_.rate * left, .epsilon = 1e-5F}, options_.most_norm);
  }

  const ImpalaOptions options_;
  ActorCritic networks_;
  // Memory of update(), and its results.
  MatrixXf observations_{};
  MatrixXf logs_{};
  MatrixXf errors_{};
  MatrixXf value_errors_{};
  double log_gain_ = 0;
};

}  // namespace

Agent impala(const ImpalaOptions& options) {
  return {.name = "impala",
          .policy = random_policy(options.policy),
          .copies = options.copies,
          .steps = options.steps,
          .training = Queued{.learner =
                                 [options](const EnvironmentSpec& spec, std::uint64_t seed) {
                                   need_choices(spec, "IMPALA");
                                   return std::make_unique<ImpalaLearner>(options, spec, seed);
                                 },
                             .batch = options.batch,
                             .room = options.room,
                             .most_age = options.most_age}};
}

}  // namespace lp
