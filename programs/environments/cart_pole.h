#pragma once
// CartPole: a cart on a track balances a pole by being pushed to the left or to the right. Each step is worth 1 until
// the pole falls or the cart leaves the track; the limit is 500 steps.
//
// The equations are those of Barto, Sutton and Anderson, "Neuronlike adaptive elements that can solve difficult
// learning control problems", IEEE Trans. SMC-13, 1983, without friction; the constants, the integration by Euler's
// method and the limits those of CartPole-v1 in Gymnasium. One thread at a time.

#include <span>

#include "programs/environments/environment.h"

namespace lp {

class CartPole final : public Environment {
 public:
  struct State {
    double position = 0;  // metres
    double speed = 0;
    double angle = 0;  // radians from upright
    double turn = 0;   // radians per second
  };

  // The state 0.02 s later, with a force of 10 N to the right or to the left.
  static State after(const State& state, bool right);
  // Whether the pole is more than 12° from upright, or the cart more than 2.4 m from the middle.
  static bool fallen(const State& state);

  const EnvironmentSpec& spec() const override;
  void reset(Random random, std::span<float> observation) override;
  StepResult step(std::span<const float> action, std::span<float> observation) override;  // 0: left, 1: right

 private:
  State state_{};
};

}  // namespace lp
