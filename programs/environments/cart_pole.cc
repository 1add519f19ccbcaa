#include "programs/environments/cart_pole.h"

#include <cmath>
#include <numbers>

namespace lp {
namespace {

constexpr double kGravity = 9.8;
constexpr double kCartMass = 1.0;
constexpr double kPoleMass = 0.1;
constexpr double kMass = kCartMass + kPoleMass;
constexpr double kHalfLength = 0.5;  // half the pole
constexpr double kForce = 10;
constexpr double kSeconds = 0.02;  // in one step
constexpr double kMostAngle = 12 * std::numbers::pi / 180;
constexpr double kMostPosition = 2.4;
constexpr double kSpread = 0.05;  // the largest value in a first state

void observe(const CartPole::State& state, std::span<float> out) {
  out[0] = static_cast<float>(state.position);
  out[1] = static_cast<float>(state.speed);
  out[2] = static_cast<float>(state.angle);
  out[3] = static_cast<float>(state.turn);
}

}  // namespace

const EnvironmentSpec& CartPole::spec() const {
  static const EnvironmentSpec spec{
      .name = "cartpole", .observation = {.width = 4}, .action = {.choices = 2}, .most_steps = 500};
  return spec;
}

CartPole::State CartPole::after(const State& state, bool right) {
  const double sine = std::sin(state.angle);
  const double cosine = std::cos(state.angle);
  const double push = ((right ? kForce : -kForce) + kPoleMass * kHalfLength * state.turn * state.turn * sine) / kMass;
  const double turning =
      (kGravity * sine - cosine * push) / (kHalfLength * (4.0 / 3.0 - kPoleMass * cosine * cosine / kMass));
  const double driving = push - kPoleMass * kHalfLength * turning * cosine / kMass;
  return {.position = state.position + kSeconds * state.speed,
          .speed = state.speed + kSeconds * driving,
          .angle = state.angle + kSeconds * state.turn,
          .turn = state.turn + kSeconds * turning};
}

bool CartPole::fallen(const State& state) {
  return std::abs(state.position) > kMostPosition || std::abs(state.angle) > kMostAngle;
}

void CartPole::reset(Random random, std::span<float> observation) {
  const auto draw = [&] { return kSpread * (2 * random.uniform() - 1); };
  state_.position = draw();
  state_.speed = draw();
  state_.angle = draw();
  state_.turn = draw();
  observe(state_, observation);
}

StepResult CartPole::step(std::span<const float> action, std::span<float> observation) {
  state_ = after(state_, action[0] == 1.0F);
  observe(state_, observation);
  return {.reward = 1, .terminated = fallen(state_)};
}

}  // namespace lp
