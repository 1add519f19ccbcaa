// Updates in kernels: the bits of Optimizer and of the sums of gradients, on every grid.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "lp/kernels/update.h"
#include "nodes/parameters/bad_values.h"
#include "nodes/parameters/optimizer.h"
#include "nodes/parameters/sum_in_worker_order.h"
#include "tests/lp/kernels/grids.h"
#include "tests/lp/kernels/large_values.h"

namespace lp {
namespace {

using kernels::GradientSum;
using kernels::Grid;

class UpdateKernel : public testing::TestWithParam<OptimizerRule> {};

// Parameters with the state of an optimizer, as a kernel has them.
struct KernelState {
  std::vector<float> parameters;
  std::vector<float> first = std::vector<float>(parameters.size());
  std::vector<float> second = std::vector<float>(parameters.size());

  void apply(const OptimizerRule& rule, std::uint64_t step, const GradientSum& sum, Grid grid) {
    with_step(rule, step, [&](const auto& one) {
      using Step = std::remove_cvref_t<decltype(one)>;
      run_grid(kernels::Update<Step>{.step = one,
                                     .sum = sum,
                                     .parameters = parameters.data(),
                                     .first = Step::kFirst ? first.data() : nullptr,
                                     .second = Step::kSecond ? second.data() : nullptr,
                                     .size = parameters.size()},
               grid);
    });
  }
};

GradientSum sum_of(const std::vector<float>& gradient) {
  GradientSum sum{.count = 1};
  sum.terms[0].values = gradient.data();
  return sum;
}

TEST_P(UpdateKernel, HasTheBitsOfTheOptimizer) {
  for (const Grid grid : test::kGrids) {
    for (const std::size_t size : test::kSizes) {
      Optimizer optimizer{.rule = GetParam()};
      std::vector<float> expected = test::normal_values(size);
      KernelState state{expected};
      for (std::uint64_t step = 1; step <= 20; ++step) {
        const std::vector<float> gradient = test::normal_values(size, step);
        optimizer.apply(expected, gradient);
        state.apply(GetParam(), step, sum_of(gradient), grid);
      }
      ASSERT_EQ(state.parameters, expected) << size;
      if (has_first(GetParam())) {
        EXPECT_EQ(state.first, optimizer.first);
      }
      if (has_second(GetParam())) {
        EXPECT_EQ(state.second, optimizer.second);
      }
    }
  }
}

TEST_P(UpdateKernel, ReachesValuesBeyondThirtyTwoBits) {
  constexpr std::size_t kLast = 7;  // one whole four, and three floats of another
  constexpr std::size_t kSize = (std::size_t{1} << 32) + 4 + kLast;
  const test::LargeValues<float> parameters(kSize);
  const test::LargeValues<float> first(kSize);
  const test::LargeValues<float> second(kSize);
  const test::LargeValues<float> gradient(kSize);
  const std::vector<float> w = test::normal_values(kLast, 1);
  const std::vector<float> g = test::normal_values(kLast, 2);
  std::copy(w.begin(), w.end(), parameters.last(kLast).begin());
  std::copy(g.begin(), g.end(), gradient.last(kLast).begin());
  with_step(GetParam(), 1, [&](const auto& one) {
    using Step = std::remove_cvref_t<decltype(one)>;
    kernels::Update<Step> update{.step = one,
                                 .sum = {.count = 1},
                                 .parameters = parameters.data(),
                                 .first = first.data(),
                                 .second = second.data(),
                                 .size = kSize};
    update.sum.terms[0].values = gradient.data();
    for (std::uint64_t four = update.indices() - 2; four < update.indices(); ++four) update(four);
  });
  Optimizer optimizer{.rule = GetParam()};
  std::vector<float> expected = w;
  optimizer.apply(expected, g);
  EXPECT_EQ(std::vector<float>(parameters.last(kLast).begin(), parameters.last(kLast).end()), expected);
}

INSTANTIATE_TEST_SUITE_P(EveryRule, UpdateKernel,
                         testing::Values(Sgd{}, Momentum{}, AdaGrad{}, Adam{}, Ftrl{.l1 = 0.5F, .l2 = 0.1F}, Sum{},
                                         Sum{.keep = 0}));

// A shard's sum: weights, the order of the workers, the division by the examples.
TEST(UpdateKernels, SumsHaveTheBitsOfAShard) {
  constexpr float kExamples = 96;
  for (const Grid grid : test::kGrids) {
    for (const std::size_t count : {1U, 2U, 16U}) {
      std::vector<WaitingGradient> gradients(count);
      GradientSum sum{.count = static_cast<std::uint32_t>(count), .divisor = kExamples};
      for (std::size_t k = 0; k < count; ++k) {
        gradients[k].weight = 1 / static_cast<float>(k + 1);
        gradients[k].values = Array<float>::copy_of(test::normal_values(1003, k));
        sum.terms[k] = {.values = gradients[k].values.data(), .weight = gradients[k].weight};
      }
      std::vector<float> expected(1003);
      sum_values(gradients, 0, expected);
      for (float& value : expected) value /= kExamples;
      std::vector<float> got(1003);
      run_grid(kernels::SumGradients{sum, got.data(), got.size()}, grid);
      EXPECT_EQ(got, expected) << count;
    }
  }
}

TEST(UpdateKernels, ALongSumIsMadeInParts) {
  std::vector<std::vector<float>> gradients;
  for (std::uint64_t k = 0; k < 5; ++k) gradients.push_back(test::normal_values(100, k));
  const auto add = [&](GradientSum sum, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) sum.terms[sum.count++] = {.values = gradients[k].data(), .weight = 0.3F};
    std::vector<float> out(100);
    run_grid(kernels::SumGradients{sum, out.data(), out.size()}, {.blocks = 2, .threads = 3});
    return out;
  };
  const std::vector<float> before = add(GradientSum{}, 0, 3);
  EXPECT_EQ(add(GradientSum{.before = before.data(), .divisor = 7}, 3, 5), add(GradientSum{.divisor = 7}, 0, 5));
}

// Only a gradient with a bad value is clipped, as by BadValues::clip.
TEST(UpdateKernels, ClipAGradientThatIsNotFinite) {
  std::vector<float> bad{3, -0.5F, std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(),
                         -4};
  const std::vector<float> good{5, 6, 7, 8, 9};
  const std::uint64_t position = 2;
  const std::uint64_t none = kernels::kAllFinite;
  GradientSum sum{.count = 2};
  sum.terms[0] = {.values = bad.data(), .bad = &position};
  sum.terms[1] = {.values = good.data(), .bad = &none};
  std::vector<float> got(5);
  run_grid(kernels::SumGradients{sum, got.data(), got.size()}, {});
  clip(bad);
  EXPECT_EQ(bad, (std::vector<float>{1, -0.5F, 0, -1, -1}));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(got[i], bad[i] + good[i]);
}

}  // namespace
}  // namespace lp
