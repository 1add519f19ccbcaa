#include "lp/kernels/queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/lp/kernels/grids.h"

namespace lp::kernels {
namespace {

using Transposed = Product::Transposed;

std::vector<float> values_of(Queue& queue, const Room<float>& room) {
  std::vector<float> out(room.size());
  room.read(out);
  queue.wait();
  return out;
}

TEST(HostQueue, MemoryIsZeroAtFirstAndTakesValues) {
  const auto queue = host_queue();
  Room<float> room(*queue, 5);
  EXPECT_EQ(values_of(*queue, room), std::vector<float>(5));
  room.write(std::vector<float>{1, 2, 3});
  EXPECT_EQ(values_of(*queue, room), (std::vector<float>{1, 2, 3, 0, 0}));
  Room<float> other(*queue, 5);
  queue->copy(other.data(), room.data(), 5 * sizeof(float));
  room = std::move(other);
  EXPECT_EQ(values_of(*queue, room), (std::vector<float>{1, 2, 3, 0, 0}));
  EXPECT_EQ(values_of(*queue, Room<float>(*queue, std::vector<float>{})), std::vector<float>());
}

// The product by its definition, in double.
std::vector<double> product(Transposed transposed, std::uint64_t rows, std::uint64_t columns, std::uint64_t inner,
                            const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> c(rows * columns);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t column = 0; column < columns; ++column) {
      for (std::uint64_t k = 0; k < inner; ++k) {
        const float left = transposed == Transposed::first ? a[row * inner + k] : a[k * rows + row];
        const float right = transposed == Transposed::second ? b[k * columns + column] : b[column * inner + k];
        c[column * rows + row] += double{left} * double{right};
      }
    }
  }
  return c;
}

TEST(HostQueue, MultipliesMatricesAndTransposedOnes) {
  const auto queue = host_queue();
  for (const Transposed transposed : {Transposed::none, Transposed::first, Transposed::second}) {
    for (const auto& [rows, columns, inner] : std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>{
             {3, 5, 7}, {1, 1, 64}, {20, 1, 33}, {4, 4, 0}, {0, 3, 2}, {3, 0, 2}}) {
      const std::vector<float> a = test::normal_values(rows * inner, 1);
      const std::vector<float> b = test::normal_values(inner * columns, 2);
      const Room<float> left(*queue, a);
      const Room<float> right(*queue, b);
      const Room<float> result(*queue, test::normal_values(rows * columns, 3));
      queue->multiply({transposed, rows, columns, inner, left.data(), right.data(), result.data()});
      const std::vector<double> expected = product(transposed, rows, columns, inner, a, b);
      const std::vector<float> got = values_of(*queue, result);
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5) << i;
    }
  }
}

}  // namespace
}  // namespace lp::kernels
