#include "programs/environments/pendulum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lp {
namespace {

using std::numbers::pi;

constexpr double kGravity = 10;
constexpr double kMass = 1;
constexpr double kLength = 1;
constexpr double kSeconds = 0.05;  // in one step
constexpr double kMostTurn = 8;
constexpr float kMostTorque = 2;

void observe(const Pendulum::State& state, std::span<float> out) {
  out[0] = static_cast<float>(std::cos(state.angle));
  out[1] = static_cast<float>(std::sin(state.angle));
  out[2] = static_cast<float>(state.turn);
}

}  // namespace

const EnvironmentSpec& Pendulum::spec() const {
  static const EnvironmentSpec spec{.name = "pendulum",
                                    .observation = {.width = 3},
                                    .action = {.low = {-kMostTorque}, .high = {kMostTorque}},
                                    .most_steps = 200};
  return spec;
}

Pendulum::State Pendulum::after(const State& state, double torque) {
  const double turning =
      3 * kGravity / (2 * kLength) * std::sin(state.angle) + 3 / (kMass * kLength * kLength) * torque;
  const double turn = std::clamp(state.turn + kSeconds * turning, -kMostTurn, kMostTurn);
  return {.angle = state.angle + kSeconds * turn, .turn = turn};
}

double Pendulum::cost(const State& state, double torque) {
  const double angle = state.angle - 2 * pi * std::floor((state.angle + pi) / (2 * pi));  // between −π and π
  return angle * angle + 0.1 * state.turn * state.turn + 0.001 * torque * torque;
}

void Pendulum::reset(Random random, std::span<float> observation) {
  state_.angle = pi * (2 * random.uniform() - 1);
  state_.turn = 2 * random.uniform() - 1;
  observe(state_, observation);
}

StepResult Pendulum::step(std::span<const float> action, std::span<float> observation) {
  const auto torque = static_cast<double>(action[0]);
  const double cost_now = cost(state_, torque);
  state_ = after(state_, torque);
  observe(state_, observation);
  return {.reward = static_cast<float>(-cost_now), .terminated = false};
}

}  // namespace lp
