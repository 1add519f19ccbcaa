// CMA-ES against the numbers of another implementation, and on functions with known optima.
#include "programs/evolution/cma.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "programs/environments/environments.h"
#include "programs/evolution/episodes.h"
#include "tests/programs/evolution/cma_reference.h"
#include "tests/programs/evolution/evolution_run.h"

namespace lp {
namespace {

std::string refusal(const CmaOptions& options) {
  try {
    cma(options);
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

TEST(CmaTest, GivesTheNumbersOfAnotherImplementation) {
  namespace reference = cma_reference;
  constexpr double kNear = 1e-7;  // the other one adds 1e-8 to the lengths in equation 46
  const auto noise = table_noise(1, Array<float>::copy_of(reference::kNoise));
  const Eigen::VectorXf start = Eigen::Map<const Eigen::Vector4f>(reference::kStart.data());
  const auto search = cma({.sigma = reference::kSigma, .population = reference::kPopulation}).search(start, *noise);
  for (std::size_t generation = 0; generation < reference::kGenerations; ++generation) {
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < reference::kPopulation; ++i) {
      const std::size_t number = generation * reference::kPopulation + i;
      trials.push_back({.index = 4 * number, .values = {-reference::kValues[number]}});
    }
    search->tell(trials);
    Checkpoint saved;
    search->save(saved);
    EXPECT_NEAR(saved.get<double>("sigma"), reference::kSigmas[generation], kNear) << generation;
    const auto mean = saved.get<std::vector<double>>("mean");
    const auto covariance = saved.get<std::vector<double>>("covariance");
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(mean[i], reference::kMeans[4 * generation + i], kNear);
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_NEAR(covariance[i], reference::kCovariances[16 * generation + i], kNear) << generation;
    }
  }
}

TEST(CmaTest, PointsHaveTheMeanAndCovarianceOfTheDistribution) {
  const auto noise = counter_noise(1);
  const auto sampler = cma().sampler(*noise);
  const Eigen::Matrix2f shape{{2, 1}, {1, 3}};
  sampler->set({.centre = Array<float>::copy_of(std::array<float, 2>{5, -7}),
                .shape = Array<float>::copy_of({shape.data(), 4}),
                .sigma = 0.5F});
  constexpr Eigen::Index kPoints = 100'000;
  Eigen::Matrix2Xf points(2, kPoints);
  for (Eigen::Index i = 0; i < kPoints; ++i) {
    sampler->point(static_cast<std::uint64_t>(i), 0, {points.col(i).data(), 2});
  }
  const Eigen::Vector2d mean = points.cast<double>().rowwise().mean();
  EXPECT_LT((mean - Eigen::Vector2d(5, -7)).norm(), 0.03);
  const Eigen::Matrix2Xd off = points.cast<double>().colwise() - mean;
  const Eigen::Matrix2d covariance = off * off.transpose() / kPoints;
  const Eigen::Matrix2d expected = 0.25 * (shape * shape).cast<double>();
  EXPECT_LT((covariance - expected).norm(), 0.05);
}

Evolution minimize(const std::string& function, const CmaOptions& options, double goal) {
  return {.search = {.method = cma(options),
                     .objective = function_objective(function, 10),
                     .noise = {.kind = NoiseKind::counter},
                     .evaluations = 200'000,
                     .goal = -goal}};
}

// The evaluations to this value; infinite when it is not reached. The median of five seeds.
double evaluations_to(double goal, const std::string& function, const CmaOptions& options) {
  std::vector<double> out;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EvolutionRun run(minimize(function, options, goal), evolution_run_options(false, seed));
    run.result();
    const EvolutionState state = run.state();
    out.push_back(*state.best >= -goal ? static_cast<double>(state.evaluations)
                                       : std::numeric_limits<double>::infinity());
  }
  std::sort(out.begin(), out.end());
  return out[2];
}

// The medians are those of 21 runs of pycma 4.5 (cma of PyPI) to 1e-9, from points in the same cubes, with the same
// step sizes and populations.
TEST(CmaTest, ReachesTheOptimumWithAsManyEvaluationsAsAnotherImplementation) {
  EXPECT_LT(evaluations_to(1e-9, "sphere", {.sigma = 3}), 1.25 * 1650);
  EXPECT_LT(evaluations_to(1e-9, "rosenbrock", {.sigma = 0.5}), 1.25 * 5340);
  EXPECT_LT(evaluations_to(1e-9, "ackley", {.sigma = 15}), 1.25 * 3350);
  EXPECT_LT(evaluations_to(1e-9, "rastrigin", {.sigma = 3, .population = 200}), 1.25 * 25'000);
}

// Σ 10^(6 i / (n − 1)) x_i²: to follow it, a search has to know the scale of each dimension.
double ellipsoid(std::span<const float> x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exponent = 6 * static_cast<double>(i) / static_cast<double>(x.size() - 1);
    sum += std::pow(10.0, exponent) * static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  return sum;
}

double sphere(std::span<const float> x) { return std::inner_product(x.begin(), x.end(), x.begin(), 0.0); }

// The evaluations of the separable search until the mean of the points has this value.
std::uint64_t evaluations_of(double (*function)(std::span<const float>), Eigen::Index dimensions, double goal,
                             std::uint64_t seed) {
  const auto noise = counter_noise(seed);
  const SearchMethod method = cma({.sigma = 3, .separable = true});
  const auto sampler = method.sampler(*noise);
  Random random(seed, "start");
  const Eigen::VectorXf start =
      Eigen::VectorXf::NullaryExpr(dimensions, [&] { return static_cast<float>(10 * random.uniform() - 5); });
  const auto search = method.search(start, *noise);
  std::vector<float> point(static_cast<std::size_t>(dimensions));
  std::uint64_t evaluations = 0;
  while (evaluations < 1'000'000) {
    const Distribution distribution = search->distribution();
    if (function(distribution.centre) < goal) break;
    sampler->set(distribution);
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < search->trials(); ++i) {
      sampler->point(evaluations, 0, point);
      trials.push_back({.index = evaluations++, .values = {-function(point)}});
    }
    search->tell(trials);
  }
  return evaluations;
}

// The numbers are the medians of 21 runs of pycma 4.5 with CMA_diagonal, whose best point reached 1e-8.
TEST(CmaTest, SeparableLearnsTheScalesWithAsManyEvaluationsAsAnotherImplementation) {
  EXPECT_LT(evaluations_of(sphere, 40, 1e-8, 1), 1.25 * 4741);
  EXPECT_LT(evaluations_of(ellipsoid, 40, 1e-8, 1), 1.25 * 9991);
}

TEST(CmaTest, SeparableSearchesMoreDimensionsThanTheOtherForm) {
  const auto dimensions = static_cast<Eigen::Index>(2 * kMostCmaDimensions);
  const std::uint64_t evaluations = evaluations_of(sphere, dimensions, static_cast<double>(dimensions) / 10, 1);
  EXPECT_LT(evaluations, 60'000U);
  const auto noise = counter_noise(1);
  const auto search = cma({.separable = true}).search(Eigen::VectorXf::Zero(dimensions), *noise);
  EXPECT_EQ(search->distribution().shape.size(), 2 * kMostCmaDimensions);  // not n²
}

TEST(CmaTest, TooManyDimensionsAreRefusedWhenTheGraphIsBuilt) {
  Evolution evolution = minimize("sphere", {}, 1);
  evolution.search.objective = function_objective("sphere", 3000);
  Program program("evolution");
  try {
    add_evolution(program, evolution);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(),
              "cma searches at most 512 parameters, but sphere has 3000: take cma({.separable = true}) "
              "or an evolution_strategy");
  }
  evolution.search.method = cma({.separable = true});
  add_evolution(program, evolution);
}

TEST(CmaTest, GivesTheSameBitsForAnyNumberOfWorkers) {
  std::vector<float> expected;
  for (const int workers : {1, 2, 5}) {
    Evolution evolution = minimize("rosenbrock", {}, 1e-3);
    evolution.workers = workers;
    const std::vector<float> result = EvolutionRun(evolution, evolution_run_options(workers == 2)).result();
    if (expected.empty()) expected = result;
    EXPECT_EQ(result, expected);
  }
}

TEST(CmaTest, GoesOnFromItsState) {
  const auto noise = counter_noise(1);
  const auto told = [&](Search& search, std::uint64_t generation) {
    std::vector<Trial> trials;
    for (std::uint64_t i = 0; i < search.trials(); ++i) {
      trials.push_back({.index = 100 * generation + i, .values = {static_cast<double>((i * 7 + generation) % 5)}});
    }
    search.tell(trials);
  };
  for (const bool separable : {false, true}) {
    const SearchMethod method = cma({.separable = separable});
    const auto one = method.search(Eigen::Vector3f(1, 2, 3), *noise);
    const auto other = method.search(Eigen::Vector3f(0, 0, 0), *noise);
    for (std::uint64_t generation = 0; generation < 5; ++generation) told(*one, generation);
    Checkpoint saved;
    one->save(saved);
    other->load(saved);
    told(*one, 5);
    told(*other, 5);
    EXPECT_TRUE(std::ranges::equal(one->distribution().shape, other->distribution().shape));
    EXPECT_TRUE(std::ranges::equal(one->distribution().centre, other->distribution().centre));
    EXPECT_THROW(method.search(Eigen::VectorXf::Zero(4), *noise)->load(saved), Error);
    EXPECT_THROW(cma({.separable = !separable}).search(Eigen::Vector3f(0, 0, 0), *noise)->load(saved), Error);
  }
}

TEST(CmaTest, SolvesCartPole) {
  const EpisodeOptions episodes{
      .environment = [] { return make_environment("cartpole"); }, .network = dense_network({}, {}, 0), .episodes = 4};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EvolutionRun run({.search = {.method = cma(),
                                 .objective = episode_objective(episodes),
                                 .noise = {.kind = NoiseKind::counter},
                                 .evaluations = 1000}},
                     evolution_run_options(false, seed));
    run.result();
    EXPECT_GE(run.learner().call<&EvolutionLearner::counts>().recent_reward, 450) << "seed " << seed;
  }
}

TEST(CmaTest, OptionsThatDoNotFitAreRefused) {
  for (const double sigma : {0.0, 1e-39, 1e39, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(refusal({.sigma = sigma}), "CMA-ES needs a sigma from 1.2e-38 to 3.4e38");
  }
  EXPECT_EQ(refusal({.population = 3}),
            "CMA-ES needs at least 4 points in a generation, not 3; give 0 for the usual number");
}

}  // namespace
}  // namespace lp
