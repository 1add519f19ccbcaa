#pragma once
// The parameters of agents that learn a policy and a value, each by a network of its own, with their optimizer. Owned
// by a learner; one thread at a time.

#include <cstdint>
#include <memory>

#include <Eigen/Core>

#include "lp/base/array.h"
#include "lp/checkpoint/checkpoint.h"
#include "nodes/parameters/optimizer.h"
#include "programs/environments/environment.h"
#include "programs/networks/network.h"

namespace lp {

class ActorCritic {
 public:
  // A policy over the environment's actions, and a network of values, whose initial parameters are a function of the
  // seed.
  ActorCritic(const MakeNetwork& policy, const MakeNetwork& value, const EnvironmentSpec& spec, std::uint64_t seed);

  Network& policy() { return *policy_; }
  Network& value() { return *value_; }
  // Views of the parameters, and of the gradient that backward() sets.
  auto policy_parameters() const { return parameters_.head(policy_->size()); }
  auto value_parameters() const { return parameters_.tail(value_->size()); }
  auto policy_gradient() { return gradient_.head(policy_->size()); }
  auto value_gradient() { return gradient_.tail(value_->size()); }

  // Changes the parameters by the gradient, whose length is first brought to at most `most_norm`. Error::failed when it
  // is not finite.
  void apply(const Adam& rule, float most_norm);

  // The policy's parameters, for actors.
  Array<float> published() const;

  void save(Checkpoint& out) const;
  // Error::failed when the checkpoint is that of other networks.
  void load(const Checkpoint& in);

 private:
  const std::unique_ptr<Network> policy_;
  const std::unique_ptr<Network> value_;
  Eigen::VectorXf parameters_;  // the policy's, then the value's
  Eigen::VectorXf gradient_;
  Optimizer optimizer_{};
};

}  // namespace lp
