// Compression in kernels: the bits of ErrorFeedback, on every grid.
#include "nodes/parameters/queue_feedback.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "lp/base/error.h"
#include "nodes/parameters/gradient_encoding.h"
#include "tests/lp/kernels/grids.h"
#include "tests/lp/kernels/large_values.h"

namespace lp {
namespace {

using kernels::Grid;
using kernels::Room;

template <class T>
std::vector<T> vector_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

// Gradients that are compressed on a queue beside those on the host.
void expect_equal_encodings(const CompressionOptions& options, std::size_t size, Grid grid) {
  const auto queue = kernels::host_queue(grid);
  ErrorFeedback host(options);
  QueueFeedback on_queue(*queue, options, size);
  for (const std::uint64_t step : {0U, 1U, 1U, 2U, 5U, 3U, 4U}) {  // the same again, and back
    const Room<float> gradient(*queue, test::normal_values(size, step));
    const Encoded expected = host.encode(test::normal_values(size, step), step);
    const Encoded got = on_queue.encode(gradient.data(), step);
    ASSERT_EQ(got.size, expected.size);
    ASSERT_EQ(got.column, expected.column);
    ASSERT_EQ(got.bits, expected.bits) << size << " in " << step;
    ASSERT_EQ(got.indices, expected.indices) << size << " in " << step;
    ASSERT_EQ(got.values, expected.values) << size << " in " << step;
    ASSERT_EQ(decode(got), decode(expected));
    ASSERT_EQ(on_queue.residual(), vector_of(host.residual()));
  }
  host.restore(on_queue.residual());
  on_queue.restore(vector_of(host.residual()));
  const Room<float> gradient(*queue, test::normal_values(size, 9));
  EXPECT_EQ(on_queue.encode(gradient.data(), 0).values, host.encode(test::normal_values(size, 9), 0).values);
}

TEST(QueueFeedback, EncodingsOnAQueueHaveTheBitsOfErrorFeedback) {
  for (const Grid grid : test::kGrids) {
    for (const std::size_t size : test::kSizes) {
      for (const std::uint32_t column : {1U, 50U, 64U}) {
        expect_equal_encodings({.kind = Compression::one_bit, .clip = 1.5F, .column = column}, size, grid);
      }
      for (const double share : {0.001, 0.1, 1.0}) {
        expect_equal_encodings({.kind = Compression::top_k, .share = share}, size, grid);
      }
    }
  }
}

TEST(QueueFeedback, DecodeIntoTheMemoryOfAQueue) {
  const auto queue = kernels::host_queue({.blocks = 2, .threads = 3});
  const std::vector<float> values = test::normal_values(1003);
  const auto decoded = [&](const Encoded& encoded) {
    const Room<float> means(*queue, encoded.values.span());
    const Room<float> to(*queue, values.size());
    if (encoded.compression == Compression::one_bit) {
      const Room<std::uint64_t> bits(*queue, encoded.bits.span());
      queue->run(kernels::OneBitDecode{means.data(), bits.data(), encoded.column, to.data(), values.size()});
    } else {
      const Room<std::uint32_t> positions(*queue, encoded.indices.span());
      queue->run(kernels::AddAtPositions{positions.data(), means.data(), encoded.values.size(), 1, to.data()});
    }
    std::vector<float> out(values.size());
    to.read(out);
    queue->wait();
    return out;
  };
  for (const Compression kind : {Compression::one_bit, Compression::top_k}) {
    const Encoded encoded = encode(values, {.kind = kind, .share = 0.1, .column = 50}, 0);
    EXPECT_EQ(decoded(encoded), vector_of(decode(encoded).span()));
  }
}

TEST(QueueFeedback, RefuseOptionsThatDoNotFit) {
  const auto queue = kernels::host_queue();
  const auto refused = [&](const CompressionOptions& options) {
    EXPECT_THROW(QueueFeedback(*queue, options, 10), Error);
  };
  refused({.kind = Compression::none});
  refused({.kind = Compression::dither});
  refused({.kind = Compression::one_bit, .column = 0});
  refused({.kind = Compression::top_k, .share = 0});
  QueueFeedback feedback(*queue, {.kind = Compression::one_bit}, 10);
  EXPECT_THROW(feedback.restore(std::vector<float>(9)), Error);
}

TEST(QueueFeedback, ReachValuesBeyondThirtyTwoBits) {
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
