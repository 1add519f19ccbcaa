#include "lp/wire/shape.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/lp/wire/everything.h"

namespace lp {
namespace {

using everything::Everything;
using everything::Tree;

// Two builds of one struct.
namespace was {
struct Step {
  std::uint64_t seed;
  Array<float> values;
};
}  // namespace was
namespace is {
struct Step {
  std::uint64_t seed;
  Array<float> gradient;
};
}  // namespace is

std::string without_namespace(std::string text) {
  for (const std::string_view name : {"::was", "::is"}) {
    if (const auto at = text.find(name); at != std::string::npos) text.erase(at, name.size());
  }
  return text;
}

TEST(Shape, SpellsFieldsAndTypes) {
  EXPECT_EQ(describe<everything::Point>(), "lp::everything::Point{x:f32,y:f32}");
  EXPECT_EQ(describe<std::vector<std::string>>(), "list<string>");
  EXPECT_EQ(describe<everything::Color>(), "enum lp::everything::Color:u8");
  EXPECT_EQ(describe<everything::Nothing>(), "lp::everything::Nothing{}");
  EXPECT_EQ((describe<std::tuple<bool, std::int8_t, double>>()), "tuple<bool,i8,f64>");
  EXPECT_EQ((describe<std::array<int, 3>>()), "array of 3<i32>");
  EXPECT_EQ(describe<everything::Interval>(), "lp::everything::Interval<f64,f64>");
  EXPECT_EQ(describe<Eigen::Matrix3f>(), "matrix 3 x 3<f32>");
}

TEST(Shape, AFieldsNameCounts) {
  EXPECT_NE(without_namespace(describe<was::Step>()), without_namespace(describe<is::Step>()));
  EXPECT_NE(shape_of<was::Step>(), shape_of<is::Step>());
}

TEST(Shape, TypesWithOtherBytesDiffer) {
  const std::set<std::uint64_t> shapes{shape_of<int>(),
                                       shape_of<unsigned>(),
                                       shape_of<float>(),
                                       shape_of<bool>(),
                                       shape_of<std::optional<int>>(),
                                       shape_of<std::vector<int>>(),
                                       shape_of<std::string>(),
                                       shape_of<std::vector<bool>>(),
                                       shape_of<std::array<int, 2>>(),
                                       shape_of<Array<float>>(),
                                       shape_of<std::array<int, 3>>(),
                                       shape_of<Eigen::MatrixXf>(),
                                       shape_of<Eigen::VectorXf>(),
                                       shape_of<Eigen::SparseMatrix<float>>()};
  EXPECT_EQ(shapes.size(), 14u);
}

TEST(Shape, TypesWithTheSameBytesAgree) { EXPECT_EQ(shape_of<std::vector<float>>(), shape_of<Array<float>>()); }

TEST(Shape, EndsForATypeThatContainsItself) {
  EXPECT_EQ(describe<Tree>(),
            "lp::everything::Tree{value:i32,children:list<lp::everything::Tree>,left:optional<lp::everything::Tree>,"
            "named:optional<list<set<tuple<string,lp::everything::Tree>>>>}");
  EXPECT_LT(describe<Everything>().size(), 4000u);
}

TEST(Shape, AStructIsSpelledOnce) {
  EXPECT_EQ((describe<std::pair<everything::Point, everything::Point>>()),
            "tuple<lp::everything::Point{x:f32,y:f32},lp::everything::Point>");
}

}  // namespace
}  // namespace lp
