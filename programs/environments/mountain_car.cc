#include "programs/environments/mountain_car.h"

#include <algorithm>
#include <cmath>

namespace lp {
namespace {

constexpr double kForce = 0.001;
constexpr double kGravity = 0.0025;
constexpr double kMostSpeed = 0.07;
constexpr double kLeft = -1.2;
constexpr double kRight = 0.6;
constexpr double kFlag = 0.5;
constexpr double kFirstLeft = -0.6;  // the first position lies between these two
constexpr double kFirstRight = -0.4;

void observe(const MountainCar::State& state, std::span<float> out) {
  out[0] = static_cast<float>(state.position);
  out[1] = static_cast<float>(state.speed);
}

}  // namespace

const EnvironmentSpec& MountainCar::spec() const {
  static const EnvironmentSpec spec{
      .name = "mountaincar", .observation = {.width = 2}, .action = {.choices = 3}, .most_steps = 200};
  return spec;
}

MountainCar::State MountainCar::after(const State& state, double drive) {
  const double pull = drive * kForce - kGravity * std::cos(3 * state.position);
  double speed = std::clamp(state.speed + pull, -kMostSpeed, kMostSpeed);
  const double position = std::clamp(state.position + speed, kLeft, kRight);
  if (position == kLeft && speed < 0) speed = 0;
  return {.position = position, .speed = speed};
}

bool MountainCar::at_flag(const State& state) { return state.position >= kFlag && state.speed >= 0; }

void MountainCar::reset(Random random, std::span<float> observation) {
  state_ = {.position = kFirstLeft + (kFirstRight - kFirstLeft) * random.uniform(), .speed = 0};
  observe(state_, observation);
}

StepResult MountainCar::step(std::span<const float> action, std::span<float> observation) {
  state_ = after(state_, static_cast<double>(action[0]) - 1);
  observe(state_, observation);
  return {.reward = -1, .terminated = at_flag(state_)};
}

}  // namespace lp
