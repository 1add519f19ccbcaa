// Compression in kernels: the bits of ErrorFeedback, on every grid.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "lp/kernels/error_feedback.h"
#include "lp/kernels/one_bit.h"
#include "lp/kernels/selection.h"
#include "nodes/parameters/gradient_encoding.h"
#include "tests/lp/kernels/grids.h"
#include "tests/lp/kernels/large_values.h"

namespace lp {
namespace {

using kernels::Grid;
using kernels::Room;

template <class T>
std::vector<T> read(kernels::Queue& queue, const Room<T>& room) {
  std::vector<T> out(room.size());
  room.read(out);
  queue.wait();
  return out;
}

template <class T>
std::vector<T> vector_of(const Array<T>& array) {
  return {array.begin(), array.end()};
}

TEST(CompressionKernels, OneBitHasTheBitsOfErrorFeedback) {
  for (const Grid grid : test::kGrids) {
    const auto queue = kernels::host_queue(grid);
    for (const std::size_t size : test::kSizes) {
      for (const std::uint32_t column : {1U, 50U, 64U}) {
        ErrorFeedback feedback({.kind = Compression::one_bit, .clip = 1.5F, .column = column});
        const Room<float> residual(*queue, size);
        const Room<std::uint64_t> bits(*queue, kernels::words_of_bits(size));
        const Room<float> means(*queue, 2 * kernels::columns_of(size, column));
        const Room<float> decoded(*queue, size);
        for (std::uint64_t step = 0; step < 5; ++step) {
          const std::vector<float> gradient = test::normal_values(size, step);
          const Encoded expected = feedback.encode(gradient, step);
          const Room<float> values(*queue, gradient);
          queue->run(kernels::AddClipped{values.data(), 1.5F, residual.data(), size});
          queue->run(kernels::OneBitBits{residual.data(), size, bits.data()});
          queue->run(kernels::OneBitMeans{residual.data(), size, column, means.data()});
          queue->run(kernels::OneBitDecode{means.data(), bits.data(), column, decoded.data(), size});
          queue->run(kernels::OneBitSubtract{means.data(), bits.data(), column, residual.data(), size});
          ASSERT_EQ(read(*queue, bits), vector_of(expected.bits)) << size << ", columns of " << column;
          ASSERT_EQ(read(*queue, means), vector_of(expected.values));
          ASSERT_EQ(read(*queue, decoded), vector_of(decode(expected)));
          const std::span<const float> left = feedback.residual();
          ASSERT_EQ(read(*queue, residual), std::vector<float>(left.begin(), left.end()));
        }
      }
    }
  }
}

TEST(CompressionKernels, TopKHasTheBitsOfErrorFeedback) {
  for (const Grid grid : test::kGrids) {
    const auto queue = kernels::host_queue(grid);
    for (const std::size_t size : {1U, 10U, 200U, 1003U}) {
      ErrorFeedback feedback({.kind = Compression::top_k, .share = 0.1, .clip = 1.5F});
      const Room<float> residual(*queue, size);
      kernels::TopK top_k(*queue, size, std::max<std::size_t>(1, size / 10));
      for (std::uint64_t step = 0; step < 5; ++step) {
        const std::vector<float> gradient = test::normal_values(size, step);
        const Encoded expected = feedback.encode(gradient, step);
        const Room<float> values(*queue, gradient);
        queue->run(kernels::AddClipped{values.data(), 1.5F, residual.data(), size});
        top_k.run(residual.data());
        const std::size_t kept = top_k.kept().size();
        queue->run(kernels::AddAtPositions{top_k.positions().data(), top_k.kept().data(), kept, -1, residual.data()});
        ASSERT_EQ(read(*queue, top_k.positions()), vector_of(expected.indices)) << size;
        ASSERT_EQ(read(*queue, top_k.kept()), vector_of(expected.values));
        const std::span<const float> left = feedback.residual();
        ASSERT_EQ(read(*queue, residual), std::vector<float>(left.begin(), left.end()));
        const Room<float> decoded(*queue, size);
        queue->run(kernels::AddAtPositions{top_k.positions().data(), top_k.kept().data(), kept, 1, decoded.data()});
        ASSERT_EQ(read(*queue, decoded), vector_of(decode(expected)));
      }
    }
  }
}

TEST(CompressionKernels, ReachValuesBeyondThirtyTwoBits) {
  constexpr std::size_t kSize = (std::size_t{1} << 32) + 6;
  constexpr std::uint32_t kColumn = 3;
  const test::LargeValues<float> values(kSize);
  const test::LargeValues<std::uint64_t> bits(kernels::words_of_bits(kSize));
  const test::LargeValues<float> means(2 * kernels::columns_of(kSize, kColumn));
  values.last(1)[0] = -4;
  const kernels::OneBitBits set{values.data(), kSize, bits.data()};
  set(set.indices() - 1);
  EXPECT_EQ(bits.last(1)[0], 0x1fU);  // 2^32 + 6 values: six in the last word
  const kernels::OneBitMeans mean{values.data(), kSize, kColumn, means.data()};
  mean(mean.indices() - 1);
  EXPECT_EQ(kSize % kColumn, 1U);
  EXPECT_EQ(means.last(2)[0], -4);
  EXPECT_EQ(kernels::one_bit_value(means.data(), bits.data(), kColumn, kSize - 1), -4);
}

}  // namespace
}  // namespace lp
