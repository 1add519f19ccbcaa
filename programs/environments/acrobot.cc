#include "programs/environments/acrobot.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lp {
namespace {

using State = Acrobot::State;
using std::numbers::pi;

// Both links have mass 1, length 1, moment of inertia 1, and their centre of mass in their middle.
constexpr double kMass = 1;
constexpr double kLength = 1;
constexpr double kCentre = 0.5;
constexpr double kInertia = 1;
constexpr double kGravity = 9.8;
constexpr double kSeconds = 0.2;  // in one step
constexpr double kMostFirstTurn = 4 * pi;
constexpr double kMostSecondTurn = 9 * pi;
constexpr double kSpread = 0.1;  // the largest value in a first state

// The derivative of the state by time.
State slope(const State& at, double torque) {
  const double cosine = std::cos(at.second);
  const double sine = std::sin(at.second);
  const double d1 = kMass * kCentre * kCentre +
                    kMass * (kLength * kLength + kCentre * kCentre + 2 * kLength * kCentre * cosine) + 2 * kInertia;
  const double d2 = kMass * (kCentre * kCentre + kLength * kCentre * cosine) + kInertia;
  const double phi2 = kMass * kCentre * kGravity * std::cos(at.first + at.second - pi / 2);
  const double phi1 = -kMass * kLength * kCentre * at.second_turn * at.second_turn * sine -
                      2 * kMass * kLength * kCentre * at.second_turn * at.first_turn * sine +
                      (kMass * kCentre + kMass * kLength) * kGravity * std::cos(at.first - pi / 2) + phi2;
  const double second =
      (torque + d2 / d1 * phi1 - kMass * kLength * kCentre * at.first_turn * at.first_turn * sine - phi2) /
      (kMass * kCentre * kCentre + kInertia - d2 * d2 / d1);
  return {.first = at.first_turn,
          .second = at.second_turn,
          .first_turn = -(d2 * second + phi1) / d1,
          .second_turn = second};
}

State moved(const State& at, const State& by, double seconds) {
  return {.first = at.first + seconds * by.first,
          .second = at.second + seconds * by.second,
          .first_turn = at.first_turn + seconds * by.first_turn,
          .second_turn = at.second_turn + seconds * by.second_turn};
}

// The angle between −π and π.
double wrapped(double angle) {
  while (angle > pi) angle -= 2 * pi;
  while (angle < -pi) angle += 2 * pi;
  return angle;
}

void observe(const State& state, std::span<float> out) {
  out[0] = static_cast<float>(std::cos(state.first));
  out[1] = static_cast<float>(std::sin(state.first));
  out[2] = static_cast<float>(std::cos(state.second));
  out[3] = static_cast<float>(std::sin(state.second));
  out[4] = static_cast<float>(state.first_turn);
  out[5] = static_cast<float>(state.second_turn);
}

}  // namespace

const EnvironmentSpec& Acrobot::spec() const {
  static const EnvironmentSpec spec{
      .name = "acrobot", .observation = {.width = 6}, .action = {.choices = 3}, .most_steps = 500};
  return spec;
}

State Acrobot::after(const State& state, double torque) {
  const State k1 = slope(state, torque);
  const State k2 = slope(moved(state, k1, kSeconds / 2), torque);
  const State k3 = slope(moved(state, k2, kSeconds / 2), torque);
  const State k4 = slope(moved(state, k3, kSeconds), torque);
  State end = moved(state, k1, kSeconds / 6);
  end = moved(moved(moved(end, k2, kSeconds / 3), k3, kSeconds / 3), k4, kSeconds / 6);
  return {.first = wrapped(end.first),
          .second = wrapped(end.second),
          .first_turn = std::clamp(end.first_turn, -kMostFirstTurn, kMostFirstTurn),
          .second_turn = std::clamp(end.second_turn, -kMostSecondTurn, kMostSecondTurn)};
}

bool Acrobot::swung_up(const State& state) { return -std::cos(state.first) - std::cos(state.first + state.second) > 1; }

void Acrobot::reset(Random random, std::span<float> observation) {
  const auto draw = [&] { return kSpread * (2 * random.uniform() - 1); };
  state_.first = draw();
  state_.second = draw();
  state_.first_turn = draw();
  state_.second_turn = draw();
  observe(state_, observation);
}

StepResult Acrobot::step(std::span<const float> action, std::span<float> observation) {
  state_ = after(state_, static_cast<double>(action[0]) - 1);
  observe(state_, observation);
  const bool up = swung_up(state_);
  return {.reward = up ? 0.0F : -1.0F, .terminated = up};
}

}  // namespace lp
