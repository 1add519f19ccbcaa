#pragma once
// V-trace: values and advantages of trajectories that another, older policy acted out (Espeholt et al., "IMPALA:
// scalable distributed deep-RL with importance weighted actor-learner architectures", ICML 2018). Pure: any thread.

#include <Eigen/Core>

#include "programs/agents/returns.h"

namespace lp {

struct VtraceOptions {
  float discount = 0.99F;
  float most_weight = 1;  // ρ̄: bounds the importance weights, and so decides which policy's value is learned
  float most_trace = 1;   // c̄: bounds how far a difference is passed back
};

struct Vtrace {
  Eigen::MatrixXf values{};      // v_s, equation 1: the targets of the values
  Eigen::MatrixXf advantages{};  // ρ_s (r_s + discount · v_{s+1} − V(x_s)): section 4.2
};

// `log_ratios` has log(π(a) / μ(a)) of the actions, copies × steps, for the policy π that learns and the policy μ that
// acted. At the end of an episode or of the trajectory, v_{s+1} is the next value.
Vtrace vtrace(const Trajectory& trajectory, const Eigen::MatrixXf& log_ratios, const VtraceOptions& options);

}  // namespace lp
