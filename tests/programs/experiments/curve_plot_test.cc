// Pictures of curves: every finite point is in its place, and names are escaped.
#include "programs/experiments/curve_plot.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace lp {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(CurveTest, AStraightLineGoesFromCornerToCorner) {
  const std::string picture = curves_svg("Rewards", {{"a < b & c", {{0, 0, -10}, {100, 1, 90}}}});
  EXPECT_NE(picture.find("d=\"M70.0,370.0 L740.0,46.0 \""), std::string::npos) << picture;
  EXPECT_NE(picture.find(">a &lt; b &amp; c</text>"), std::string::npos);
  EXPECT_NE(picture.find(">Rewards</text>"), std::string::npos);
  EXPECT_EQ(picture.rfind("</svg>\n"), picture.size() - 7);
}

TEST(CurveTest, ValuesThatAreNotFiniteAreLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string picture = curves_svg("", {{"one", {{0, 0, 1}, {1, 0, nan}, {2, 0, 3}}}});
  EXPECT_EQ(count(picture, "nan"), 0U);
  EXPECT_NE(picture.find("d=\"M70.0,370.0 L740.0,46.0 \""), std::string::npos) << picture;
}

TEST(CurveTest, PointsThatCannotBeToldApartAreLeftOutButTheLast) {
  Curve curve{.name = "one"};
  for (std::uint64_t step = 0; step <= 100'000; ++step) curve.points.push_back({step, 0, static_cast<double>(step)});
  const std::string picture = curves_svg("", {curve});
  EXPECT_LT(picture.size(), 8000U);
  EXPECT_GT(count(picture, "L"), 300U);
  EXPECT_NE(picture.find(" L740.0,46.0 \""), std::string::npos);
}

TEST(CurveTest, NothingAndOnePointAreDrawn) {
  EXPECT_EQ(count(curves_svg("", {}), "<path"), 0U);
  const std::string one = curves_svg("", {{"one", {{5, 0, 7}}}, {"two", {{5, 0, 7}}}});
  EXPECT_EQ(count(one, "class=\"curve\""), 2U);
  EXPECT_EQ(count(one, "M405.0,208.0"), 2U);  // the middle
}

}  // namespace
}  // namespace lp
