// Pictures of curves: every finite point is in its place, gaps stay gaps, axes have round marks, and names are escaped.
#include "lp/draw/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lp/draw/scale.h"

namespace lp {
namespace {

using internal::Scale;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// The points of the first curve.
std::string path_of(const std::string& picture) {
  const std::size_t begin = picture.find(" d=\"", picture.find("\"curve c0")) + 4;
  return picture.substr(begin, picture.find('"', begin) - begin);
}

std::vector<std::string> texts_of(const Scale& scale) {
  std::vector<std::string> texts;
  for (const Scale::Mark& mark : scale.marks()) texts.push_back(mark.text);
  return texts;
}

TEST(ChartTest, AStraightLineGoesFromCornerToCornerAndNamesAreEscaped) {
  const std::string picture = chart_element({.title = "<b>", .curves = {{"a < b & 'c'", {{0, -10}, {100, 90}}}}});
  EXPECT_EQ(path_of(picture), "M40.0,300.0 L540.0,40.0 ") << picture;
  EXPECT_NE(picture.find(">a &lt; b &amp; &#39;c&#39;</text>"), std::string::npos);
  EXPECT_NE(picture.find(">&lt;b&gt;</text>"), std::string::npos);
  EXPECT_EQ(count(picture, "<b>"), 0U);
  EXPECT_EQ(picture.rfind("</svg>\n"), picture.size() - 7);
}

TEST(ChartTest, ALineHasGapsWhereValuesAreNotFinite) {
  const std::string picture =
      chart_element({.curves = {{"one", {{0, 1}, {10, kNan}, {20, 2}, {30, 3}, {40, kInfinity}, {50, -kInfinity}}}}});
  EXPECT_EQ(count(path_of(picture), "M"), 2U) << path_of(picture);
  EXPECT_EQ(count(path_of(picture), "h0"), 1U) << path_of(picture);  // the point alone is a dot
  EXPECT_EQ(count(picture, "nan") + count(picture, "inf"), 0U) << picture;
}

TEST(ChartTest, OfManyPointsThePeaksStay) {
  Curve curve{.name = "one"};
  for (int step = 0; step <= 1'000'000; ++step) curve.points.push_back({static_cast<double>(step), 1});
  curve.points[333'333].y = 5;
  curve.points[666'666].y = -3;
  const std::string picture = chart_element({.curves = {curve}});
  EXPECT_LT(picture.size(), 40'000U);
  EXPECT_EQ(count(path_of(picture), ",40.0 "), 1U);   // the highest
  EXPECT_EQ(count(path_of(picture), ",300.0 "), 1U);  // the lowest
  EXPECT_NE(path_of(picture).find("540.0,"), std::string::npos);
}

TEST(ChartTest, NothingAndEqualValuesAreDrawn) {
  EXPECT_EQ(count(chart_element({}), "<path"), 0U);
  EXPECT_EQ(count(chart_element({.curves = {{"one", {{1, kNan}}}}}), "no values"), 1U);
  const std::string same = chart_element({.curves = {{"one", {{5, 7}}}, {"two", {{5, 7}}}}});
  EXPECT_EQ(count(same, ",170.0 h0"), 2U) << same;  // the middle
  EXPECT_EQ(to_svg({}).rfind("</svg>\n"), to_svg({}).size() - 7);
}

TEST(ChartTest, ManyCurvesHaveABoundedLegend) {
  Chart chart{.title = "many"};
  for (int i = 0; i < 100; ++i) chart.curves.push_back({std::string(300, 'x') + std::to_string(i), {{0, 1}, {1, 2}}});
  const std::string picture = to_svg(std::vector<Chart>{chart, chart, chart});
  EXPECT_EQ(count(picture, ">and 84 more<"), 3U);
  EXPECT_EQ(count(picture, std::string(60, 'x')), 0U);
}

TEST(ScaleTest, MarksAreRoundNumbers) {
  EXPECT_EQ(texts_of(Scale({0, 100}, false)), (std::vector<std::string>{"0", "20", "40", "60", "80", "100"}));
  EXPECT_EQ(texts_of(Scale({0, 50'000}, false)), (std::vector<std::string>{"0", "10k", "20k", "30k", "40k", "50k"}));
  EXPECT_EQ(texts_of(Scale({0.1, 0.35}, false)),
            (std::vector<std::string>{"0.10", "0.15", "0.20", "0.25", "0.30", "0.35"}));
  EXPECT_EQ(texts_of(Scale({-1.5e6, 1e6}, false)),
            (std::vector<std::string>{"-1.5M", "-1.0M", "-0.5M", "0", "0.5M", "1.0M"}));
}

TEST(ScaleTest, ItIsLogarithmicWhereALineWouldHideMostValues) {
  std::vector<double> loss;
  for (int i = 0; i < 100; ++i) loss.push_back(std::pow(10, -0.05 * i));
  const Scale scale(loss, true);
  EXPECT_TRUE(scale.logarithmic());
  EXPECT_EQ(texts_of(scale), (std::vector<std::string>{"1e-04", "0.001", "0.01", "0.1", "1"}));
  EXPECT_NEAR(scale.share(loss[50]), 0.5, 0.01);
  EXPECT_FALSE(Scale(loss, false).logarithmic());
  loss.push_back(0);
  EXPECT_FALSE(Scale(loss, true).logarithmic());
  EXPECT_FALSE(Scale({1, 500, 900, 1000}, true).logarithmic());
}

TEST(ScaleTest, EveryRangeHasAFewMarksInsideIt) {
  for (const double least : {-1.7e308, -1e16, -1.0, 0.0, 1e-308, 1e-12, 3.0, 1e16, 1e300}) {
    for (const double width : {0.0, 5e-324, 1e-12, 0.3, 2.0, 1e9, 1e17, 1.7e308}) {
      const Scale scale({least, least + width}, true);
      EXPECT_LE(scale.marks().size(), 8U) << least << " " << width;
      for (const Scale::Mark& mark : scale.marks()) {
        EXPECT_GE(scale.share(mark.value), 0);
        EXPECT_LE(scale.share(mark.value), 1);
        EXPECT_LE(mark.text.size(), 12U) << mark.text;
      }
    }
  }
}

}  // namespace
}  // namespace lp
