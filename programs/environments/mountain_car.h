#pragma once
// MountainCar: a car in a valley is too weak to drive up the hill, and must swing. Each step costs 1 until the car is
// at the flag; the limit is 200 steps.
//
// The task is that of Moore, "Efficient memory-based learning for robot control", PhD thesis, Cambridge, 1990; the
// equations and constants those of MountainCar-v0 in Gymnasium. One thread at a time.

#include <span>

#include "programs/environments/environment.h"

namespace lp {

class MountainCar final : public Environment {
 public:
  struct State {
    double position = 0;
    double speed = 0;
  };

  // The state a step later; `drive` is −1, 0 or 1.
  static State after(const State& state, double drive);
  static bool at_flag(const State& state);

  const EnvironmentSpec& spec() const override;
  void reset(Random random, std::span<float> observation) override;
  StepResult step(std::span<const float> action, std::span<float> observation) override;  // left, nothing, right

 private:
  State state_{};
};

}  // namespace lp
