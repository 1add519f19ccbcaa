#pragma once
// Catch, in pixels: a ball falls through a board of 10 rows and 5 columns, and a paddle in the last row moves to the
// left or to the right to catch it. Catching is worth 1, missing −1, at the end of an episode of 9 steps.
//
// As in bsuite (Osband et al., "Behaviour suite for reinforcement learning", ICLR 2020), from Mnih et al., "Recurrent
// models of visual attention", NIPS 2014. One thread at a time.

#include <span>

#include "programs/environments/environment.h"

namespace lp {

class Catch final : public Environment {
 public:
  static constexpr int kRows = 10;
  static constexpr int kColumns = 5;

  const EnvironmentSpec& spec() const override;
  void reset(Random random, std::span<float> observation) override;
  StepResult step(std::span<const float> action, std::span<float> observation) override;  // left, nothing, right

 private:
  void draw(std::span<float> board) const;

  int ball_row_ = 0;
  int ball_column_ = 0;
  int paddle_ = 0;
};

}  // namespace lp
