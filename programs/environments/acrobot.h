#pragma once
// Acrobot: two links hang from a hinge; a torque at the joint between them swings the tip up. Each step costs 1 until
// the tip is one link's length above the hinge; the limit is 500 steps.
//
// The equations are those of Sutton, "Generalization in reinforcement learning: successful examples using sparse coarse
// coding", NIPS 1996, as in Sutton and Barto's book; the constants, the integration by one Runge-Kutta step of fourth
// order and the limits those of Acrobot-v1 in Gymnasium. One thread at a time.

#include <span>

#include "programs/environments/environment.h"

namespace lp {

class Acrobot final : public Environment {
 public:
  struct State {
    double first = 0;   // radians of the first link from hanging down
    double second = 0;  // radians of the second link from the direction of the first
    double first_turn = 0;
    double second_turn = 0;
  };

  // The state 0.2 s later, with this torque at the joint.
  static State after(const State& state, double torque);
  static bool swung_up(const State& state);

  const EnvironmentSpec& spec() const override;
  void reset(Random random, std::span<float> observation) override;
  // The actions are the torques −1, 0 and 1. An observation has the cosine and sine of each angle, then the turns.
  StepResult step(std::span<const float> action, std::span<float> observation) override;

 private:
  State state_{};
};

}  // namespace lp
