#pragma once
// Pendulum: a torque that is too weak to lift the pendulum at once swings it up and keeps it there. A step costs its
// distance from rest in the upright position; the limit is 200 steps.
//
// The equations and constants are those of Pendulum-v1 in Gymnasium. One thread at a time.

#include <span>

#include "programs/environments/environment.h"

namespace lp {

class Pendulum final : public Environment {
 public:
  struct State {
    double angle = 0;  // radians from upright
    double turn = 0;   // radians per second
  };

  // The state 0.05 s later, with a torque between −2 and 2.
  static State after(const State& state, double torque);
  // The cost of applying this torque in this state.
  static double cost(const State& state, double torque);

  const EnvironmentSpec& spec() const override;
  void reset(Random random, std::span<float> observation) override;
  // The action is the torque. An observation has the cosine and sine of the angle, then the turn.
  StepResult step(std::span<const float> action, std::span<float> observation) override;

 private:
  State state_{};
};

}  // namespace lp
