// The evolution strategy: its step against a slow one, its gradient against that of a quadratic, and saved states.
#include "programs/evolution/evolution_strategy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {
namespace {

constexpr std::uint64_t kSeed = 3;

using Value = double (*)(const Eigen::VectorXf&);

double bowl(const Eigen::VectorXf& x) {  // its gradient at 0 is (2, −1, 0.5, 0)
  return x.cast<double>().dot(Eigen::Vector4d(2, -1, 0.5, 0)) - 0.5 * x.cast<double>().squaredNorm();
}

// Evaluates a generation of the search.
std::vector<Trial> evaluated(const Search& search, Sampler& sampler, const Noise& noise, std::uint64_t generation,
                             Value value) {
  sampler.set(search.distribution());
  std::vector<Trial> out;
  const std::size_t size = search.distribution().centre.size();
  Eigen::VectorXf point(static_cast<Eigen::Index>(size));
  for (std::size_t i = 0; i < search.trials(); ++i) {
    Trial trial{.index = noise.index(generation * search.trials() + i, size)};
    for (std::size_t k = 0; k < sampler.points(); ++k) {
      sampler.point(trial.index, k, {point.data(), size});
      trial.values.push_back(value(point));
    }
    out.push_back(trial);
  }
  return out;
}

struct Searching {
  Searching(const EvolutionStrategyOptions& options, const Eigen::VectorXf& start,
            std::unique_ptr<Noise> with = counter_noise(kSeed))
      : noise(std::move(with)),
        search(evolution_strategy(options).search(start, *noise)),
        sampler(evolution_strategy(options).sampler(*noise)) {}

  std::vector<Trial> generation(std::uint64_t number, Value value) {
    return evaluated(*search, *sampler, *noise, number, value);
  }
  Eigen::VectorXf centre() const {
    const Array<float> values = search->distribution().centre;
    return Eigen::Map<const Eigen::VectorXf>(values.data(), static_cast<Eigen::Index>(values.size()));
  }

  std::unique_ptr<Noise> noise;
  std::unique_ptr<Search> search;
  std::unique_ptr<Sampler> sampler;
};

TEST(EvolutionStrategyTest, ThePointsOfATrialMirrorOneAnother) {
  const Eigen::VectorXf start = Eigen::Vector4f(1, 2, 3, 4);
  Searching one({.sigma = 0.5F}, start);
  one.sampler->set(one.search->distribution());
  std::vector<float> room;
  const std::span<const float> noise = one.noise->at(9, 4, room);
  std::array<float, 4> plus{};
  std::array<float, 4> minus{};
  one.sampler->point(9, 0, plus);
  one.sampler->point(9, 1, minus);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(plus[i], static_cast<float>(i + 1) + 0.5F * noise[i]);
    EXPECT_FLOAT_EQ(minus[i], static_cast<float>(i + 1) - 0.5F * noise[i]);
  }
}

// The formulas of the paper in double, one after the other: ranks by counting, the gradient, Adam's first step.
TEST(EvolutionStrategyTest, AStepIsThatOfTheFormulas) {
  const Eigen::VectorXf start = Eigen::Vector4f(0.5F, -1, 2, 0);
  const EvolutionStrategyOptions options{.pairs = 6, .sigma = 0.3F, .adam = {.rate = 0.1F}, .weight_decay = 0.01F};
  for (const bool table : {false, true}) {
    Searching one(options, start, table ? table_noise(kSeed, noise_table(kSeed, 200)) : counter_noise(kSeed));
    const std::vector<Trial> trials = one.generation(0, &bowl);
    const auto rank = [&](double value) {
      int below = 0;
      for (const Trial& trial : trials) {
        for (const double other : trial.values) below += other < value ? 1 : 0;
      }
      return below / 11.0 - 0.5;
    };
    Eigen::Vector4d gradient = Eigen::Vector4d::Zero();
    std::vector<float> room;
    for (const Trial& trial : trials) {
      const std::span<const float> noise = one.noise->at(trial.index, 4, room);
      const double weight = rank(trial.values[0]) - rank(trial.values[1]);
      for (Eigen::Index i = 0; i < 4; ++i) gradient(i) += weight * noise[static_cast<std::size_t>(i)] / 12;
    }
    const Eigen::Vector4d descent = 0.01 * start.cast<double>() - gradient;
    one.search->tell(trials);
    for (Eigen::Index i = 0; i < 4; ++i) {
      EXPECT_NEAR(one.centre()(i), start(i) - 0.1 * descent(i) / (std::abs(descent(i)) + 1e-8), 1e-6);
    }
  }
}

// With many pairs and a small sigma, the ranks are a monotone function of the values: the gradient points where that of
// the quadratic does, which differences give.
TEST(EvolutionStrategyTest, TheGradientPointsWhereThatOfAQuadraticDoes) {
  const Eigen::VectorXf start = Eigen::Vector4f(0.3F, 0.1F, -0.2F, 0.4F);
  Eigen::Vector4d expected;
  for (Eigen::Index i = 0; i < 4; ++i) {
    Eigen::VectorXf up = start;
    Eigen::VectorXf down = start;
    up(i) += 0.01F;
    down(i) -= 0.01F;
    expected(i) = (bowl(up) - bowl(down)) / 0.02;
  }
  Searching one({.pairs = 20'000, .sigma = 0.01F}, start);
  const std::vector<Trial> trials = one.generation(0, &bowl);
  std::vector<double> values;
  for (const Trial& trial : trials) values.insert(values.end(), trial.values.begin(), trial.values.end());
  one.search->tell(trials);
  Checkpoint saved;
  one.search->save(saved);
  const std::vector<float> momentum = saved.get<Optimizer>("adam").first;  // 0.1 times the descent
  Eigen::Vector4d found;
  for (Eigen::Index i = 0; i < 4; ++i) found(i) = -10 * static_cast<double>(momentum[static_cast<std::size_t>(i)]);
  EXPECT_GT(found.dot(expected) / (found.norm() * expected.norm()), 0.999);
}

TEST(EvolutionStrategyTest, EqualValuesMoveNothing) {
  const Eigen::VectorXf start = Eigen::Vector4f(1, 2, 3, 4);
  Searching one({}, start);
  one.search->tell(one.generation(0, [](const Eigen::VectorXf&) { return 5.0; }));
  EXPECT_EQ(one.centre(), start);
}

TEST(EvolutionStrategyTest, WeightDecayPullsTheParametersTowardsZero) {
  const Eigen::VectorXf start = Eigen::Vector4f(1, -2, 3, 0);
  Searching one({.adam = {.rate = 0.1F}, .weight_decay = 0.5F}, start);
  one.search->tell(one.generation(0, [](const Eigen::VectorXf&) { return 5.0; }));
  EXPECT_LT((one.centre() - Eigen::Vector4f(0.9F, -1.9F, 2.9F, 0)).norm(), 1e-5F);
}

TEST(EvolutionStrategyTest, ShrinkMultipliesSigmaAndRate) {
  Searching one({.sigma = 0.5F, .adam = {.rate = 0.2F}, .shrink = 0.5F}, Eigen::Vector4f::Zero());
  one.search->tell(one.generation(0, &bowl));
  EXPECT_EQ(one.search->distribution().sigma, 0.25F);
  const Eigen::VectorXf before = one.centre();
  one.search->tell(one.generation(1, &bowl));
  EXPECT_LT((one.centre() - before).cwiseAbs().maxCoeff(), 0.11F);
}

TEST(EvolutionStrategyTest, ARestoredSearchGoesOnWithTheSameBits) {
  const Eigen::VectorXf start = Eigen::Vector4f(1, 2, 3, 4);
  Searching one({.shrink = 0.9F}, start);
  for (std::uint64_t i = 0; i < 3; ++i) one.search->tell(one.generation(i, &bowl));
  Checkpoint saved;
  one.search->save(saved);
  Searching other({.shrink = 0.9F}, Eigen::Vector4f::Zero());
  other.search->load(saved);
  for (std::uint64_t i = 3; i < 6; ++i) {
    one.search->tell(one.generation(i, &bowl));
    other.search->tell(other.generation(i, &bowl));
  }
  EXPECT_EQ(one.centre(), other.centre());
  Searching larger({}, Eigen::VectorXf::Zero(5));
  EXPECT_THROW(larger.search->load(saved), Error);
}

TEST(EvolutionStrategyTest, OptionsThatDoNotFitAreRefused) {
  EXPECT_THROW(evolution_strategy({.pairs = 0}), Error);
  EXPECT_THROW(evolution_strategy({.sigma = 0}), Error);
  EXPECT_THROW(evolution_strategy({.sigma = std::numeric_limits<float>::quiet_NaN()}), Error);
  EXPECT_THROW(evolution_strategy({.adam = {.rate = -1}}), Error);
  EXPECT_THROW(evolution_strategy({.weight_decay = -1}), Error);
  EXPECT_THROW(evolution_strategy({.shrink = 1.5F}), Error);
}

}  // namespace
}  // namespace lp
