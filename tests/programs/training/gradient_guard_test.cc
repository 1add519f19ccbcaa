// The one policy for gradients that are not finite, in schemes whose servers do not look.
#include "programs/training/gradient_guard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(GradientGuard, ClipsAGradientThatIsNotFiniteAndNoOther) {
  GradientGuard guard(BadValues::clip, 0);
  const Eigen::VectorXf bad = Eigen::Vector4f(kNan, -kInfinity, 0.5F, 5);
  EXPECT_EQ(guard.checked(0, bad), Eigen::VectorXf(Eigen::Vector4f(0, -1, 0.5F, 1)));
  const Eigen::VectorXf fine = Eigen::Vector4f(-7, 0, 0.5F, 5);
  EXPECT_EQ(guard.checked(1, fine), fine);
}

TEST(GradientGuard, RefusesAGradientThatIsNotFiniteAndNamesItsWorker) {
  GradientGuard guard(BadValues::refuse, 3);
  const Eigen::VectorXf fine = Eigen::Vector2f(-7, 5);
  EXPECT_EQ(guard.checked(0, fine), fine);
  try {
    guard.checked(12, Eigen::Vector2f(1, kInfinity));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("worker 3 in step 12"), std::string::npos) << error.what();
    EXPECT_NE(error.text().find("element 1"), std::string::npos) << error.what();
  }
}

TEST(GradientGuard, PassesWhatItIsToldToPass) {
  GradientGuard guard(BadValues::pass, 0);
  const Eigen::VectorXf bad = Eigen::Vector2f(kNan, 5);
  EXPECT_TRUE(std::isnan(guard.checked(0, bad)[0]));
}

}  // namespace
}  // namespace lp
