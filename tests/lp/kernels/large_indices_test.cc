// Kernels on more than 2^31 values: the last index, or part, writes what it writes for few values. Those of updates,
// of the search for bad values and of 1-bit encoding are in the tests beside their references.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "lp/kernels/cross_entropy.h"
#include "lp/kernels/error_feedback.h"
#include "lp/kernels/evolution.h"
#include "lp/kernels/layers.h"
#include "lp/kernels/one_bit.h"
#include "lp/kernels/top_k.h"
#include "lp/kernels/update.h"
#include "tests/lp/kernels/grids.h"
#include "tests/lp/kernels/large_values.h"

namespace lp::kernels {
namespace {

using test::LargeValues;

constexpr std::size_t kBeyond = (std::size_t{1} << 32) + 7;
constexpr std::size_t kMostPositions = (std::size_t{1} << 32) - 1;  // those of top-k have 32 bits

template <class T>
void set_last(const LargeValues<T>& large, const std::vector<T>& values) {
  std::copy(values.begin(), values.end(), large.last(values.size()).begin());
}
template <class T>
std::vector<T> last_of(const LargeValues<T>& large, std::size_t count) {
  const std::span<T> values = large.last(count);
  return {values.begin(), values.end()};
}

TEST(LargeIndices, OfSumsOfGradients) {
  const LargeValues<float> one(kBeyond);
  const LargeValues<float> other(kBeyond);
  const LargeValues<float> before(kBeyond);
  const LargeValues<float> to(kBeyond);
  set_last<float>(one, {1, 2, 3});
  set_last<float>(other, {10, 20, 30});
  set_last<float>(before, {100, 200, 300});
  SumGradients kernel{.sum = {.count = 2, .before = before.data()}, .to = to.data(), .size = kBeyond};
  kernel.sum.terms[0].values = one.data();
  kernel.sum.terms[1].values = other.data();
  kernel(kernel.indices() - 1);  // three values: the last Float4 is not whole
  EXPECT_EQ(last_of(to, 4), (std::vector<float>{0, 111, 222, 333}));
}

TEST(LargeIndices, OfPointsAndTheirGradient) {
  constexpr std::uint64_t kStream = 5;
  const CounterNumbers counter{77};
  const LargeValues<float> table(kBeyond + kStream);
  const LargeValues<float> centre(kBeyond);
  const LargeValues<float> to(kBeyond);
  set_last(table, test::normal_values(7));
  set_last(centre, test::normal_values(7, 1));
  const std::vector<std::uint64_t> trials{kStream};
  const std::vector<float> weights{2};
  const auto expect = [&](const auto& numbers) {
    const Perturb<std::remove_cvref_t<decltype(numbers)>> point{numbers, kStream,   centre.data(),
                                                                0.5F,    to.data(), kBeyond};
    const SearchGradient<std::remove_cvref_t<decltype(numbers)>> gradient{
        numbers, trials.data(), weights.data(), 1, centre.data(), 0.25F, to.data(), kBeyond};
    std::vector<float> noise(64);  // that of the last eights
    for (std::uint64_t eight = point.indices() - 8; eight < point.indices(); ++eight) {
      const Eight some = numbers.at(kStream, eight, kBeyond);
      for (unsigned i = 0; i < 8; ++i) noise[position_in_stream(eight, i) % 64] = some.at[i];
      point(eight);
    }
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(to.last(7)[i], centre.last(7)[i] + 0.5F * noise[i]) << i;
    for (std::uint64_t eight = gradient.indices() - 8; eight < gradient.indices(); ++eight) gradient(eight);
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(to.last(7)[i], 0.25F * centre.last(7)[i] - 2 * noise[i]) << i;
  };
  static_assert(kBeyond % 64 == 7);
  expect(counter);
  expect(TableNumbers{table.data()});
}

TEST(LargeIndices, OfTheCompressionOfGradients) {
  constexpr std::uint32_t kColumn = 5;
  const LargeValues<float> values(kBeyond);
  const LargeValues<float> residual(kBeyond);
  set_last<float>(values, {-3, 0.5F});
  set_last<float>(residual, {1, 1});
  const AddClipped add{values.data(), 2, residual.data(), kBeyond};
  add(kBeyond - 2);
  add(kBeyond - 1);
  EXPECT_EQ(last_of(residual, 2), (std::vector<float>{-1, 1.5F}));

  const LargeValues<std::uint64_t> bits(words_of_bits(kBeyond));
  const LargeValues<float> means(2 * columns_of(kBeyond, kColumn));
  bits.last(1)[0] = std::uint64_t{1} << (kBeyond - 1) % 64;
  set_last<float>(means, {-7, 9});
  const OneBitDecode decode{means.data(), bits.data(), kColumn, values.data(), kBeyond};
  decode(kBeyond - 2);
  decode(kBeyond - 1);
  EXPECT_EQ(last_of(values, 2), (std::vector<float>{-7, 9}));
  const OneBitSubtract subtract{means.data(), bits.data(), kColumn, residual.data(), kBeyond};
  subtract(kBeyond - 1);
  EXPECT_EQ(last_of(residual, 2), (std::vector<float>{-1, -7.5F}));
}

// The last part of many has the last values.
TEST(LargeIndices, OfTheLargestValues) {
  constexpr Parts kDivision{.size = kMostPositions, .count = std::uint64_t{1} << 26};
  const std::uint64_t part = (kMostPositions - 1) / kDivision.length();
  const LargeValues<float> values(kMostPositions);
  set_last<float>(values, {4, -8, 1, 8});
  const std::size_t here = kMostPositions - kDivision.begin(part);
  Selection selection{.wanted = 2, .prefix = 0, .known = 0};

  const LargeValues<std::uint32_t> counts(kDigits * kDivision.count);
  const CountDigits digits{values.data(), kDivision, &selection, counts.data()};
  digits(part);
  const auto count = [&](std::uint64_t row) { return counts.data()[row * kDivision.count + part]; };
  EXPECT_EQ(count(magnitude_key(4) >> 28), 3U);  // 4, -8 and 8 begin with the same digit
  EXPECT_EQ(count(magnitude_key(1) >> 28), 1U);
  EXPECT_EQ(count(0), here - 4);

  selection = {.wanted = 1, .prefix = magnitude_key(4), .known = kTopKDigits};
  CountKept{values.data(), kDivision, &selection, counts.data()}(part);
  EXPECT_EQ(count(0), 2U);
  EXPECT_EQ(count(1), 1U);

  const LargeValues<std::uint64_t> before(2 * kDivision.count);
  std::vector<std::uint32_t> positions(3);
  std::vector<float> kept(3);
  KeepTopK{values.data(), kDivision, &selection, before.data(), positions.data(), kept.data()}(part);
  EXPECT_EQ(kept, (std::vector<float>{4, -8, 8}));
  EXPECT_EQ(positions, (std::vector<std::uint32_t>{0xffff'fffbU, 0xffff'fffcU, 0xffff'fffeU}));

  const LargeValues<std::uint32_t> many_positions(kMostPositions);
  const LargeValues<float> many_kept(kMostPositions);
  set_last<std::uint32_t>(many_positions, {0xffff'fffdU});
  set_last<float>(many_kept, {10});
  AddAtPositions{many_positions.data(), many_kept.data(), kMostPositions, -1, values.data()}(kMostPositions - 1);
  EXPECT_EQ(last_of(values, 4), (std::vector<float>{4, -8, -9, 8}));
}

TEST(LargeIndices, OfTheSumsOfCounts) {
  constexpr std::uint64_t kRows = 2;
  constexpr Parts kRow{.size = (std::uint64_t{1} << 31) + 3, .count = std::uint64_t{1} << 27};
  const std::uint64_t part = (kRow.size - 1) / kRow.length();
  const std::uint64_t index = kRow.count + part;  // in the second row
  const LargeValues<std::uint32_t> counts(kRows * kRow.size);
  const LargeValues<std::uint64_t> sums(kRows * kRow.count);
  const LargeValues<std::uint64_t> spread(kRows * kRow.size);
  set_last<std::uint32_t>(counts, {3, 4, 5});
  ASSERT_GE(kRow.size - kRow.begin(part), 3U);
  SumRows<std::uint32_t>{counts.data(), kRow, kRows, sums.data()}(index);
  EXPECT_EQ(sums.data()[index], 12U);
  SpreadSums{counts.data(), kRow, kRows, sums.data(), spread.data()}(index);
  EXPECT_EQ(last_of(spread, 3), (std::vector<std::uint64_t>{12, 15, 19}));
  set_last<std::uint64_t>(spread, {1, 2, 3});
  SumRows<std::uint64_t>{spread.data(), kRow, kRows, sums.data()}(index);
  EXPECT_EQ(sums.data()[index], 6 + 12 * (kRow.size - kRow.begin(part) - 3));  // SpreadSums has written 12 before
  set_last<std::uint64_t>(spread, {1, 2, 3});
  PrefixSums{spread.data() + spread.size() % 3, 3, spread.size() / 3}(spread.size() / 3 - 1);
  EXPECT_EQ(last_of(spread, 3), (std::vector<std::uint64_t>{0, 1, 3}));

  const LargeValues<std::uint64_t> numbers(kBeyond);
  set_last<std::uint64_t>(numbers, {9, 8});
  const LargeValues<std::uint64_t> many(kBeyond - 1);
  LeastOf{numbers.data() + 1, kBeyond - 1, kBeyond - 1, many.data()}(kBeyond - 2);
  EXPECT_EQ(many.last(1)[0], 8U);
}

TEST(LargeIndices, OfLayers) {
  constexpr std::uint64_t kOutputs = 3;
  constexpr std::uint64_t kExamples = kBeyond / kOutputs;
  const std::vector<float> biases{10, 20, 30};
  const LargeValues<float> sums(kOutputs * kExamples);
  set_last<float>(sums, {1, -40, 3});
  const Activate<Relu> activate{biases.data(), kOutputs, sums.data(), kExamples};
  for (std::uint64_t i = activate.indices() - 3; i < activate.indices(); ++i) activate(i);
  EXPECT_EQ(last_of(sums, 3), (std::vector<float>{11, 0, 33}));

  const LargeValues<float> errors(kOutputs * kExamples);
  set_last<float>(errors, {5, 6, 7});
  const MultiplyBySlope<Relu> multiply{sums.data(), errors.data(), errors.size()};
  for (std::uint64_t i = multiply.indices() - 3; i < multiply.indices(); ++i) multiply(i);
  EXPECT_EQ(last_of(errors, 3), (std::vector<float>{5, 0, 7}));
}

TEST(LargeIndices, OfCrossEntropy) {
  constexpr std::uint64_t kExamples = (std::uint64_t{1} << 31) + 5;
  const std::vector<float> two{0, 1.5F};
  std::vector<float> expected = two;
  const double loss = cross_entropy(expected.data(), 2, 1);
  const LargeValues<float> scores(2 * kExamples);
  const LargeValues<std::int32_t> labels(kExamples);
  const LargeValues<double> losses(kExamples);
  set_last(scores, two);
  labels.last(1)[0] = 1;
  CrossEntropy{scores.data(), labels.data(), 2, kExamples, losses.data()}(kExamples - 1);
  EXPECT_EQ(losses.last(1)[0], loss);
  EXPECT_EQ(last_of(scores, 2), expected);
  losses.last(1)[0] = 0;
  scores.data()[kExamples - 1] = two[1];
  LogisticCrossEntropy{scores.data(), labels.data(), kExamples, losses.data()}(kExamples - 1);
  EXPECT_EQ(losses.last(1)[0], loss);
  EXPECT_EQ(scores.data()[kExamples - 1], expected[1]);
}

}  // namespace
}  // namespace lp::kernels
