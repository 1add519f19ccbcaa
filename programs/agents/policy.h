#pragma once
// The acting part of an agent, as actors and evaluators hold it. Owned by a node; one thread at a time.

#include <cstdint>
#include <functional>
#include <memory>

#include <Eigen/Core>

#include "lp/base/array.h"
#include "lp/base/random.h"
#include "programs/environments/environment.h"

namespace lp {

// A version of a learner's work: what it publishes for actors, evaluators and snapshots.
struct Learned {
  std::uint64_t steps = 0;    // environment steps that it has learned from
  std::uint64_t updates = 0;  // changes of the parameters
  double progress = 0;        // the share of the training that is done, from 0 to 1: for schedules
  Array<float> parameters{};  // the policy's
};

struct Choice {
  Eigen::MatrixXf actions{};               // action size × copies
  Eigen::RowVectorXf log_probabilities{};  // the actions'; 0 from a policy that has none
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Acts by these parameters from now on. Error::failed when their number does not fit.
  virtual void set(const Learned& learned) = 0;

  // Chooses an action for each observation (a column), to learn from it.
  virtual void explore(const Eigen::MatrixXf& observations, Random& random, Choice& out) = 0;

  // Chooses the best actions.
  virtual void exploit(const Eigen::MatrixXf& observations, Eigen::MatrixXf& actions) = 0;
};

using MakePolicy = std::function<std::unique_ptr<Policy>(const EnvironmentSpec& spec)>;

}  // namespace lp
