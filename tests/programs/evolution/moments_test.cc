// Mean and variance against two passes, and merging in a fixed order.
#include "programs/evolution/moments.h"

#include <gtest/gtest.h>

#include <array>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {
namespace {

Eigen::MatrixXf observations(Eigen::Index count) {
  Random random(1, "observations");
  Eigen::MatrixXf out(3, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    out.col(i) << static_cast<float>(random.normal()), static_cast<float>(1000 + random.normal() / 10), 5.0F;
  }
  return out;
}

TEST(MomentsTest, PartsThatAreMergedAreTheWhole) {
  const Eigen::MatrixXf all = observations(500);
  Moments merged;
  for (const auto& [first, count] : {std::pair(0, 100), std::pair(100, 1), std::pair(101, 399)}) {
    Moments part;
    part.add(all.middleCols(first, count));
    merged.merge(part);
    merged.merge({});
  }
  const Eigen::MatrixXd exact = all.cast<double>();
  const Eigen::VectorXd mean = exact.rowwise().mean();
  const Eigen::VectorXd squares = (exact.colwise() - mean).rowwise().squaredNorm();
  EXPECT_EQ(merged.count, 500U);
  for (Eigen::Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(merged.mean[static_cast<std::size_t>(i)], mean(i), 1e-9);
    EXPECT_NEAR(merged.squares[static_cast<std::size_t>(i)], squares(i), 1e-6);
  }
}

TEST(MomentsTest, TheScaleHasMeanAndInverseDeviation) {
  std::array<float, 6> scale{};
  Moments{}.write_scale(scale);
  EXPECT_EQ(scale, (std::array<float, 6>{0, 0, 0, 1, 1, 1}));
  Moments moments;
  moments.add(observations(10'000));
  moments.write_scale(scale);
  EXPECT_NEAR(scale[0], 0, 0.05);
  EXPECT_NEAR(scale[1], 1000, 0.01);
  EXPECT_NEAR(scale[3], 1, 0.05);
  EXPECT_NEAR(scale[4], 10, 0.5);
  EXPECT_EQ(scale[5], 100);  // a value that never changes has the least deviation
}

TEST(MomentsTest, ObservationsOfAnotherEnvironmentAreRefused) {
  Moments moments;
  moments.add(Eigen::MatrixXf::Ones(3, 1));
  Moments other;
  other.add(Eigen::MatrixXf::Ones(4, 1));
  EXPECT_THROW(moments.merge(other), Error);
}

}  // namespace
}  // namespace lp
