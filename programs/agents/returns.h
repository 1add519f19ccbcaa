#pragma once
// Returns and advantages of trajectories. All matrices are copies × steps: a column has one step of every copy. Pure:
// any thread.

#include <Eigen/Core>

namespace lp {

// A piece of the trajectories of some copies.
struct Trajectory {
  Eigen::MatrixXf rewards{};
  Eigen::MatrixXf values{};       // the observations' in which the agent acted
  Eigen::MatrixXf next_values{};  // the following observations': 0 if the episode had ended by itself
  Eigen::MatrixXf goes_on{};      // 1, or 0 where the episode ended or was truncated with this step
};

// Generalized advantage estimation: the sum over k of (discount · decay)^k δ_{t+k} within the episode, with
// δ = reward + discount · next value − value (Schulman et al., ICLR 2016, equations 11 and 16).
Eigen::MatrixXf advantages(const Trajectory& trajectory, float discount, float decay);

// The sum of the next n rewards, discounted, and of the discounted value of the observation after them: the n-step
// return (Sutton and Barto, 2nd edition, equation 7.1). Where an episode or the trajectory ends earlier, fewer rewards.
Eigen::MatrixXf n_step_returns(const Trajectory& trajectory, float discount, int n);

}  // namespace lp
