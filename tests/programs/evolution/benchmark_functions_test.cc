// The test functions: their optima, values that were worked out by hand, and what is refused.
#include "programs/evolution/benchmark_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "lp/base/error.h"

namespace lp {
namespace {

using Point = std::vector<float>;

TEST(FunctionsTest, AreZeroAtTheirOptima) {
  EXPECT_EQ(sphere(Point(5, 0)), 0);
  EXPECT_EQ(rosenbrock(Point(5, 1)), 0);
  EXPECT_EQ(rastrigin(Point(5, 0)), 0);
  EXPECT_NEAR(ackley(Point(5, 0)), 0, 1e-14);
}

TEST(FunctionsTest, HaveTheValuesOfTheirFormulas) {
  EXPECT_EQ(sphere(Point{1, -2, 3}), 14);
  EXPECT_EQ(rosenbrock(Point{-1, 2, 3}), (100 * 1 + 4) + (100 * 1 + 1));
  EXPECT_NEAR(rastrigin(Point{0.5F, 1}), 20 + 1.25 + 10 - 10, 1e-9);
  EXPECT_NEAR(ackley(Point{1, 1}), 20 - 20 * std::exp(-0.2), 1e-9);
  EXPECT_NEAR(ackley(Point{0.5F}), 20 + std::numbers::e - 20 * std::exp(-0.1) - std::exp(-1), 1e-9);
}

TEST(FunctionsTest, AnObjectiveIsTheNegativeOfItsFunctionAndStartsInItsCube) {
  for (const std::string& name : function_names()) {
    const auto objective = function_objective(name, 4)(1);
    EXPECT_EQ(objective->name(), name);
    EXPECT_EQ(objective->size(), 4U);
    const Eigen::VectorXf start = objective->start(3);
    EXPECT_EQ(start, objective->start(3));
    EXPECT_NE(start, objective->start(4));
    EXPECT_LE(start.cwiseAbs().maxCoeff(), 33);
    EXPECT_LT(objective->evaluate({start.data(), 4}, 0).value, -0.1);
  }
  EXPECT_EQ(function_objective("sphere", 3)(1)->evaluate(Point{1, -2, 3}, 9).value, -14);
}

TEST(FunctionsTest, UnknownNamesAndTooFewDimensionsAreRefused) {
  const auto refusal = [](const std::string& name, std::size_t dimensions) -> std::string {
    try {
      function_objective(name, dimensions);
    } catch (const Error& error) {
      return error.text();
    }
    return "";
  };
  EXPECT_EQ(refusal("spheer", 3),
            "there is no function \"spheer\": choose one of ackley, rastrigin, rosenbrock, sphere");
  EXPECT_EQ(refusal("rosenbrock", 1), "the function \"rosenbrock\" needs 2 or more dimensions, not 1");
}

}  // namespace
}  // namespace lp
