#include "nodes/parameters/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/hash.h"
#include "lp/base/random.h"

namespace lp {
namespace {

// The parameter after each of the gradients, from a start of 1.
std::vector<float> path(const OptimizerRule& rule, const std::vector<float>& gradients) {
  Optimizer optimizer{.rule = rule};
  std::vector<float> w{1.0F};
  std::vector<float> out;
  for (const float gradient : gradients) {
    optimizer.apply(w, std::vector<float>{gradient});
    out.push_back(w[0]);
  }
  return out;
}

TEST(Optimizer, SgdSubtractsRateTimesGradient) {
  EXPECT_EQ(path(Sgd{.rate = 0.5F}, {1, -2, 0}), (std::vector<float>{0.5F, 1.5F, 1.5F}));
}

// With a constant gradient g, after t steps w = w₀ − rate g Σ_{k=1..t} (1 − decayᵏ) / (1 − decay).
TEST(Optimizer, MomentumEqualsItsClosedForm) {
  const std::vector<float> got = path(Momentum{.rate = 0.125F, .decay = 0.5F}, std::vector<float>(20, 2.0F));
  double sum = 0;
  for (int t = 1; t <= 20; ++t) {
    sum += (1 - std::pow(0.5, t)) / 0.5;
    EXPECT_NEAR(got[static_cast<std::size_t>(t - 1)], 1 - 0.125 * 2 * sum, 1e-5) << t;
  }
}

// With a constant gradient g, s = t g², so that the step t is rate / √t whatever g is.
TEST(Optimizer, AdaGradEqualsItsClosedForm) {
  for (const float gradient : {0.01F, 100.0F}) {
    const std::vector<float> got = path(AdaGrad{.rate = 0.1F, .epsilon = 0}, std::vector<float>(20, gradient));
    double sum = 0;
    for (int t = 1; t <= 20; ++t) {
      sum += 1 / std::sqrt(t);
      EXPECT_NEAR(got[static_cast<std::size_t>(t - 1)], 1 - 0.1 * sum, 1e-5) << t;
    }
  }
}

// With a constant gradient both bias-corrected means are exact, so that every step is `rate`.
TEST(Optimizer, AdamCorrectsTheBiasOfItsMeans) {
  for (const float gradient : {-0.01F, 100.0F}) {
    const std::vector<float> got = path(Adam{.rate = 0.01F}, std::vector<float>(20, gradient));
    for (int t = 1; t <= 20; ++t) {
      EXPECT_NEAR(got[static_cast<std::size_t>(t - 1)], 1 - std::copysign(0.01 * t, gradient), 1e-5) << t;
    }
  }
}

// Algorithm 1 of the paper, in double, with its own variables.
TEST(Optimizer, AdamFollowsThePaper) {
  Random random(1, "gradients");
  std::vector<float> gradients(100);
  for (float& g : gradients) g = static_cast<float>(random.normal());
  const std::vector<float> got = path(Adam{.rate = 0.1F}, gradients);
  double m = 0, v = 0, w = 1;
  for (int t = 1; t <= 100; ++t) {
    const double g = gradients[static_cast<std::size_t>(t - 1)];
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    w -= 0.1 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    EXPECT_NEAR(got[static_cast<std::size_t>(t - 1)], w, 2e-5) << t;
  }
}

// Algorithm 1 of the paper, in double, with its own variables.
TEST(Optimizer, FtrlFollowsThePaper) {
  Random random(1, "gradients");
  std::vector<float> gradients(200);
  for (float& g : gradients) g = static_cast<float>(random.normal());
  const std::vector<float> got = path(Ftrl{.rate = 0.5F, .beta = 1, .l1 = 5, .l2 = 0.1F}, gradients);
  double z = 0, n = 0, w = 1;
  int zeros = 0;
  for (std::size_t t = 0; t < gradients.size(); ++t) {
    const double g = gradients[t];
    const double sigma = (std::sqrt(n + g * g) - std::sqrt(n)) / 0.5;
    z += g - sigma * w;
    n += g * g;
    w = std::abs(z) <= 5 ? 0 : -(z - std::copysign(5.0, z)) / ((1 + std::sqrt(n)) / 0.5 + 0.1F);
    EXPECT_NEAR(got[t], w, 1e-4) << t;
    if (got[t] == 0) ++zeros;
  }
  EXPECT_GT(zeros, 0);  // the purpose of l1
}

TEST(Optimizer, SumAddsOrReplaces) {
  EXPECT_EQ(path(Sum{}, {1, 2}), (std::vector<float>{2, 4}));
  EXPECT_EQ(path(Sum{.keep = 0}, {1, 2}), (std::vector<float>{1, 2}));
}

// New parameters start without state, and the others go on.
TEST(Optimizer, GrowsWithItsParameters) {
  Optimizer optimizer{.rule = AdaGrad{.rate = 1, .epsilon = 0}};
  std::vector<float> w{0, 0};
  const std::vector<float> one{1};
  optimizer.begin_step(1);
  optimizer.apply_part(w, 0, one);
  optimizer.begin_step(2);
  optimizer.apply_part(w, 1, one);
  EXPECT_EQ(w, (std::vector<float>{-1, -1}));
  optimizer.begin_step(2);
  optimizer.apply_part(w, 0, one);
  EXPECT_NEAR(w[0], -1 - 1 / std::sqrt(2), 1e-6);
}

class EveryRule : public testing::TestWithParam<OptimizerRule> {};

std::vector<float> random_vector(std::size_t size, std::uint64_t step) {
  Random random(1, "vector", step);
  std::vector<float> out(size);
  for (float& x : out) x = static_cast<float>(random.normal());
  return out;
}

TEST_P(EveryRule, ShardsComeOutAsTheWholeBitForBit) {
  constexpr std::size_t kVector = 1003;
  std::vector<float> whole = random_vector(kVector, 0);
  std::vector<float> cut = whole;
  Optimizer optimizer{.rule = GetParam()};
  const std::vector<std::size_t> bounds{0, 1, 6, 6, 309, kVector};  // odd sizes, odd addresses, an empty shard
  std::vector<Optimizer> shards(bounds.size() - 1, Optimizer{.rule = GetParam()});
  for (std::uint64_t step = 1; step <= 50; ++step) {
    const std::vector<float> gradient = random_vector(kVector, step);
    optimizer.apply(whole, gradient);
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const std::size_t size = bounds[i + 1] - bounds[i];
      shards[i].apply(std::span(cut).subspan(bounds[i], size), std::span(gradient).subspan(bounds[i], size));
    }
  }
  EXPECT_EQ(whole, cut);
}

// Results that users have kept stay reproducible: these are the bits that each rule has always had.
TEST(Optimizer, RulesKeepTheirBits) {
  const std::vector<std::pair<OptimizerRule, std::uint64_t>> rules{{Sgd{}, 0x2669b401c8998f72},
                                                                   {Momentum{}, 0x33071c0928a2bc12},
                                                                   {AdaGrad{}, 0x3b3265b0c0d8eb41},
                                                                   {Adam{}, 0xf8d1c26fc3a271c1},
                                                                   {Ftrl{.l1 = 0.5F, .l2 = 0.1F}, 0x659f851c35c72309},
                                                                   {Sum{.keep = 0.5F}, 0x7fd1181b147d15d4}};
  for (const auto& [rule, hash] : rules) {
    Optimizer optimizer{.rule = rule};
    std::vector<float> w = random_vector(1003, 0);
    for (std::uint64_t step = 1; step <= 50; ++step) optimizer.apply(w, random_vector(1003, step));
    EXPECT_EQ(fnv1a({reinterpret_cast<const char*>(w.data()), w.size() * sizeof(float)}), hash) << rule.index();
  }
}

TEST_P(EveryRule, GoesOnFromASavedState) {
  std::vector<float> w = random_vector(10, 0);
  Optimizer optimizer{.rule = GetParam()};
  for (std::uint64_t step = 1; step <= 5; ++step) optimizer.apply(w, random_vector(10, step));
  std::vector<float> restored_w = w;
  Optimizer restored{optimizer.rule, optimizer.steps, optimizer.first, optimizer.second};
  for (std::uint64_t step = 6; step <= 10; ++step) {
    optimizer.apply(w, random_vector(10, step));
    restored.apply(restored_w, random_vector(10, step));
  }
  EXPECT_EQ(w, restored_w);
}

TEST_P(EveryRule, RefusesAGradientOfAnotherSize) {
  Optimizer optimizer{.rule = GetParam()};
  std::vector<float> w(3);
  EXPECT_THROW(optimizer.apply(w, std::vector<float>(2)), Error);
  EXPECT_EQ(optimizer.steps, 0U);
}

INSTANTIATE_TEST_SUITE_P(Optimizer, EveryRule, testing::Values(Sgd{}, Momentum{}, AdaGrad{}, Adam{}, Ftrl{}, Sum{}));

TEST(Optimizer, RefusesAStateOfAnotherSize) {
  Optimizer optimizer{.rule = Momentum{}};
  std::vector<float> w(3);
  optimizer.apply(w, std::vector<float>(3));
  std::vector<float> other(4);
  EXPECT_THROW(optimizer.apply(other, std::vector<float>(4)), Error);
}

}  // namespace
}  // namespace lp
