#include "programs/environments/catch.h"

#include <algorithm>
#include <cstddef>

namespace lp {

const EnvironmentSpec& Catch::spec() const {
  static const EnvironmentSpec spec{.name = "catch",
                                    .observation = {.height = kRows, .width = kColumns},
                                    .action = {.choices = 3},
                                    .most_steps = kRows};
  return spec;
}

void Catch::draw(std::span<float> board) const {
  std::fill(board.begin(), board.end(), 0.0F);
  const auto at = [&](int row, int column) -> float& {
    return board[static_cast<std::size_t>(row) * kColumns + static_cast<std::size_t>(column)];
  };
  at(ball_row_, ball_column_) = 1;
  at(kRows - 1, paddle_) = 1;
}

void Catch::reset(Random random, std::span<float> observation) {
  ball_row_ = 0;
  ball_column_ = static_cast<int>(random.below(kColumns));
  paddle_ = kColumns / 2;
  draw(observation);
}

StepResult Catch::step(std::span<const float> action, std::span<float> observation) {
  paddle_ = std::clamp(paddle_ + static_cast<int>(action[0]) - 1, 0, kColumns - 1);
  ++ball_row_;
  draw(observation);
  if (ball_row_ < kRows - 1) return {};
  return {.reward = ball_column_ == paddle_ ? 1.0F : -1.0F, .terminated = true};
}

}  // namespace lp
