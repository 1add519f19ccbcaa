#include "programs/networks/products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "lp/base/random.h"

namespace lp {
namespace {

using Values = std::vector<float>;

Values drawn(Random& random, std::ptrdiff_t count) {
  Values values(static_cast<std::size_t>(count));
  for (float& one : values) one = static_cast<float>(random.normal());
  return values;
}

// The element (row, column) of a side with this many rows.
float at(const Product::Side& side, std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t row,
         std::ptrdiff_t column) {
  return side.values[side.transposed ? column + row * columns : row + column * rows];
}

// By the definition, in double.
std::vector<double> by_definition(const Product& product) {
  std::vector<double> out;
  for (std::ptrdiff_t column = 0; column < product.columns; ++column) {
    for (std::ptrdiff_t row = 0; row < product.rows; ++row) {
      double sum = 0;
      for (std::ptrdiff_t i = 0; i < product.inner; ++i) {
        sum += static_cast<double>(at(product.left, product.rows, product.inner, row, i)) *
               static_cast<double>(at(product.right, product.inner, product.columns, i, column));
      }
      out.push_back(sum);
    }
  }
  return out;
}

TEST(Products, EqualTheDefinitionForAllSizesAndTranspositions) {
  Random random(1, "matrix");
  for (const std::ptrdiff_t rows : {0, 1, 3, 64, 67}) {
    for (const std::ptrdiff_t inner : {0, 1, 4, 65}) {
      for (const std::ptrdiff_t columns : {0, 1, 2, 33}) {
        for (const int transposed : {0, 1, 2, 3}) {
          const Values left = drawn(random, rows * inner);
          const Values right = drawn(random, inner * columns);
          const Product product{.left = {left.data(), (transposed & 1) != 0},
                                .right = {right.data(), (transposed & 2) != 0},
                                .rows = rows,
                                .inner = inner,
                                .columns = columns};
          const std::vector<double> expected = by_definition(product);
          Values out(expected.size(), 7);
          multiply(product, out.data());
          for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-4);
          multiply_add(product, out.data());
          for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], 2 * expected[i], 2e-4);
        }
      }
    }
  }
}

TEST(Products, TanhIsThatOfTheLibraryAndKeepsNan) {
  Values values;
  for (float x = -12; x < 12; x += 0.037F) values.push_back(x);
  values.push_back(std::numeric_limits<float>::infinity());
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  Values out = values;
  tanh_all(out.data(), static_cast<std::ptrdiff_t>(out.size()));
  for (std::size_t i = 0; i + 1 < out.size(); ++i) EXPECT_NEAR(out[i], std::tanh(values[i]), 1e-6) << values[i];
  EXPECT_TRUE(std::isnan(out.back()));
}

}  // namespace
}  // namespace lp
