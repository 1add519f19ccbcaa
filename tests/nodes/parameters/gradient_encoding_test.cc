#include "nodes/parameters/gradient_encoding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {
namespace {

std::vector<float> random_values(std::size_t size, std::uint64_t step = 0) {
  Random random(2, "values", step);
  std::vector<float> out(size);
  for (float& value : out) value = static_cast<float>(random.normal());
  return out;
}

// Project Adam: the sum over two examples of the errors times the activations and a 1.
TEST(Compression, AnOuterProductIsMultipliedByTheDecoder) {
  const auto factors = Array<float>::copy_of(std::vector<float>{1, 2, 3, 4, /*then*/ 5, 6, 7, 8, 9, 10});
  const Encoded encoded = outer_product(factors, 2, 3);
  EXPECT_EQ(encoded.bytes(), 10 * sizeof(float));
  const Array<float> decoded = decode(encoded);
  EXPECT_EQ(std::vector<float>(decoded.begin(), decoded.end()), (std::vector<float>{29, 42, 33, 48, 37, 54, 4, 6}));
  EXPECT_EQ(decode(outer_product({}, 2, 3)), Array<float>(8));  // there are no examples
  EXPECT_THROW(outer_product(factors, 2, 4), Error);
  EXPECT_THROW(outer_product(factors, 0, 10), Error);
  EXPECT_THROW(outer_product(factors, 10, 0), Error);
  EXPECT_THROW(encode(random_values(8), {.kind = Compression::outer_product}, 0), Error);
}

// CNTK: one bit for each value, and two reconstruction values for each column.
TEST(Compression, OneBitSendsTheMeansOfWhatIsBelowAndAboveZero) {
  const std::vector<float> values{1, 3, -2, -4, 0.5F, 5};
  const Encoded encoded = encode(values, {.kind = Compression::one_bit, .column = 4}, 0);
  EXPECT_EQ(std::vector<float>(encoded.values.begin(), encoded.values.end()), (std::vector<float>{-3, 2, 0, 2.75F}));
  const Array<float> decoded = decode(encoded);
  EXPECT_EQ(std::vector<float>(decoded.begin(), decoded.end()), (std::vector<float>{2, 2, -3, -3, 2.75F, 2.75F}));
  const Encoded large = encode(random_values(64'000), {.kind = Compression::one_bit, .column = 1000}, 0);
  EXPECT_EQ(large.bytes(), 64'000U / 8 + 64 * 2 * sizeof(float));
}

TEST(Compression, TopKSendsTheLargestByMagnitude) {
  const Encoded encoded = encode(std::vector<float>{1, -7, 3, 0, 5, -3}, {.kind = Compression::top_k, .share = 0.5}, 0);
  EXPECT_EQ(std::vector<float>(encoded.values.begin(), encoded.values.end()), (std::vector<float>{-7, 3, 5}));
  EXPECT_EQ(std::vector<std::uint32_t>(encoded.indices.begin(), encoded.indices.end()),
            (std::vector<std::uint32_t>{1, 2, 4}));
  const Array<float> decoded = decode(encoded);
  EXPECT_EQ(std::vector<float>(decoded.begin(), decoded.end()), (std::vector<float>{0, -7, 3, 0, 5, 0}));
}

TEST(Compression, RandomKIsAFunctionOfTheSeed) {
  const std::vector<float> values = random_values(1000);
  const CompressionOptions options{.kind = Compression::random_k, .share = 0.1};
  const Encoded first = encode(values, options, 1);
  EXPECT_EQ(first.indices.size(), 100U);
  EXPECT_EQ(first.indices, encode(values, options, 1).indices);
  EXPECT_FALSE(first.indices == encode(values, options, 2).indices);
}

TEST(Compression, SignificantSendsWhatHasChangedEnoughSinceItWasSent) {
  ErrorFeedback feedback({.kind = Compression::significant, .threshold = 1});
  const std::vector<float> gradient{0.4F, 2, -0.6F, 0};
  EXPECT_EQ(feedback.encode(gradient, 0).indices.size(), 1U);
  const Encoded second = feedback.encode(gradient, 1);
  EXPECT_EQ(std::vector<std::uint32_t>(second.indices.begin(), second.indices.end()),
            (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(second.values[1], -1.2F);
  EXPECT_EQ(feedback.encode(std::vector<float>(4), 2).bytes(), 0U);
}

TEST(Compression, ClippingIsForGood) {
  for (const Compression kind : {Compression::none, Compression::top_k}) {
    ErrorFeedback feedback({.kind = kind, .share = 1, .clip = 1});
    for (std::uint64_t step = 0; step < 3; ++step) {
      const Array<float> decoded = decode(feedback.encode(std::vector<float>{5, 0.5F, -3}, step));
      EXPECT_EQ(std::vector<float>(decoded.begin(), decoded.end()), (std::vector<float>{1, 0.5F, -1}));
    }
  }
}

// Dithering: the expected value is the value.
TEST(Compression, DitherIsUnbiased) {
  const std::vector<float> values{1, 0.3F, -0.123F, 0};
  std::vector<double> sums(values.size());
  constexpr int kTimes = 4000;
  for (int i = 0; i < kTimes; ++i) {
    const Encoded encoded = encode(values, {.kind = Compression::dither}, static_cast<std::uint64_t>(i));
    EXPECT_EQ(encoded.bytes(), values.size() + sizeof(float));
    const Array<float> decoded = decode(encoded);
    for (std::size_t k = 0; k < values.size(); ++k) {
      EXPECT_NEAR(decoded[k], values[k], 1.0 / 127);
      sums[k] += decoded[k];
    }
  }
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_NEAR(sums[k] / kTimes, values[k], 3e-4);
}

class EveryCompression : public testing::TestWithParam<Compression> {};

// q = Q(g + e), e ← (g + e) − Q⁻¹(q): Σ decoded + residual = Σ g, up to rounding, after any number of steps.
TEST_P(EveryCompression, WhatWasDecodedAndTheResidualAreWhatWasGiven) {
  constexpr std::size_t kVector = 777;
  ErrorFeedback feedback({.kind = GetParam(), .share = 0.05, .threshold = 3, .column = 100});
  std::vector<double> given(kVector);
  std::vector<double> decoded(kVector);
  for (std::uint64_t step = 0; step < 200; ++step) {
    const std::vector<float> gradient = random_values(kVector, step);
    const Array<float> got = decode(feedback.encode(gradient, step));
    for (std::size_t i = 0; i < kVector; ++i) {
      given[i] += gradient[i];
      decoded[i] += got[i];
    }
    for (std::size_t i = 0; i < kVector; ++i) {
      const double residual = feedback.residual().empty() ? 0 : feedback.residual()[i];
      ASSERT_NEAR(decoded[i] + residual, given[i], 1e-3) << i << " in step " << step;
    }
  }
  EXPECT_THROW(feedback.encode(std::vector<float>(kVector + 1), 200), Error);
}

TEST_P(EveryCompression, AStepThatIsEncodedAgainCountsOnce) {
  ErrorFeedback once({.kind = GetParam(), .share = 0.05, .threshold = 1}, /*seed=*/7);
  ErrorFeedback twice({.kind = GetParam(), .share = 0.05, .threshold = 1}, /*seed=*/7);
  for (std::uint64_t step = 0; step < 20; ++step) {
    const std::vector<float> gradient = random_values(100, step);
    const Array<float> expected = decode(once.encode(gradient, step));
    EXPECT_EQ(decode(twice.encode(gradient, step)), expected);
    EXPECT_EQ(decode(twice.encode(gradient, step)), expected);
  }
}

TEST_P(EveryCompression, IsGoneOnWithFromItsResidual) {
  const CompressionOptions options{.kind = GetParam(), .share = 0.05, .threshold = 1};
  ErrorFeedback all(options, /*seed=*/7);
  for (std::uint64_t step = 0; step < 10; ++step) static_cast<void>(all.encode(random_values(100, step), step));
  ErrorFeedback restored(options, /*seed=*/7);
  restored.restore(all.residual());
  for (std::uint64_t step = 10; step < 20; ++step) {
    const std::vector<float> gradient = random_values(100, step);
    EXPECT_EQ(decode(restored.encode(gradient, step)), decode(all.encode(gradient, step)));
  }
}

// The gradients of the residual come again.
TEST_P(EveryCompression, GoingBackForgetsTheResidual) {
  const CompressionOptions options{.kind = GetParam(), .share = 0.05, .threshold = 1};
  ErrorFeedback back(options, /*seed=*/7);
  for (std::uint64_t step = 0; step < 10; ++step) static_cast<void>(back.encode(random_values(100, step), step));
  ErrorFeedback fresh(options, /*seed=*/7);
  for (std::uint64_t step = 5; step < 10; ++step) {
    const std::vector<float> gradient = random_values(100, step);
    EXPECT_EQ(decode(back.encode(gradient, step)), decode(fresh.encode(gradient, step)));
  }
}

TEST_P(EveryCompression, WhatIsNotFiniteIsNotLost) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> gradient(100, 0.01F);
    gradient[42] = bad;
    bool finite = true;
    for (const float value : decode(encode(gradient, {.kind = GetParam(), .share = 1}, 0))) {
      finite = finite && std::isfinite(value);
    }
    EXPECT_FALSE(finite) << bad;
  }
}

INSTANTIATE_TEST_SUITE_P(Compression, EveryCompression,
                         testing::Values(Compression::one_bit, Compression::top_k, Compression::random_k,
                                         Compression::significant, Compression::dither));

TEST(Compression, WhatDoesNotFitIsRefused) {
  Encoded encoded = encode(random_values(100), {.kind = Compression::top_k, .share = 0.1}, 0);
  encoded.indices.edit()[9] = 100;
  EXPECT_THROW(decode(encoded), Error);
  encoded = encode(random_values(100), {.kind = Compression::one_bit}, 0);
  encoded.column = 0;
  EXPECT_THROW(decode(encoded), Error);
  encoded.column = 64;
  encoded.size = std::uint64_t{1} << 60;
  EXPECT_THROW(decode(encoded), Error);
  encoded = encode(random_values(100), {.kind = Compression::dither}, 0);
  encoded.levels = {};
  EXPECT_THROW(decode(encoded), Error);
  encoded = plain(Array<float>(3));
  encoded.size = 4;
  EXPECT_THROW(decode(encoded), Error);
  encoded.compression = static_cast<Compression>(77);
  EXPECT_THROW(decode(encoded), Error);
  EXPECT_THROW(encode(random_values(3), {.kind = Compression::top_k, .share = 0}, 0), Error);
  EXPECT_EQ(decode(encode({}, {.kind = Compression::top_k}, 0)).size(), 0U);
  EXPECT_EQ(decode(encode({}, {.kind = Compression::one_bit}, 0)).size(), 0U);
}

}  // namespace
}  // namespace lp
