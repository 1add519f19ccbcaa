// Evolution in kernels: the bits of Noise, of the sampler and of the search, on every grid.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lp/base/error.h"
#include "lp/kernels/evolution.h"
#include "lp/kernels/queue.h"
#include "lp/kernels/update.h"
#include "programs/evolution/evolution_strategy.h"
#include "programs/evolution/noise.h"
#include "programs/evolution/ranks.h"
#include "tests/lp/kernels/grids.h"
#include "tests/lp/kernels/large_values.h"

namespace lp {
namespace {

using kernels::CounterNumbers;
using kernels::Grid;
using kernels::TableNumbers;

constexpr std::uint64_t kSearchSeed = 11;
constexpr std::uint64_t kLargeIndex = (std::uint64_t{5} << 32) + 3;

TEST(EvolutionKernels, MakeTheBitsOfTheCounter) {
  const auto noise = counter_noise(kSearchSeed);
  for (const Grid grid : test::kGrids) {
    for (const std::size_t size : test::kSizes) {
      std::vector<float> room;
      const std::span<const float> expected = noise->at(kLargeIndex, size, room);
      std::vector<float> got(size);
      run_grid(kernels::NormalNumbers{{noise_key(kSearchSeed)}, kLargeIndex, got.data(), size}, grid);
      EXPECT_EQ(got, std::vector<float>(expected.begin(), expected.end())) << size;
    }
  }
}

TEST(EvolutionKernels, ReachPlacesBeyondThirtyTwoBits) {
  constexpr std::size_t kSize = (std::size_t{1} << 32) + 64 + 9;
  const test::LargeValues<float> to(kSize);
  const kernels::NormalNumbers kernel{{noise_key(kSearchSeed)}, 0, to.data(), kSize};
  for (std::uint64_t eight = kernel.indices() - 8; eight < kernel.indices(); ++eight) kernel(eight);
  const CounterNumbers numbers{noise_key(kSearchSeed)};
  EXPECT_EQ(to.last(9)[0], numbers.at(0, (kSize - 9) / 8, kSize).at[0]);
  EXPECT_NE(to.last(9)[8], 0);
  EXPECT_EQ(kernels::position_in_stream(kernel.indices() - 1, 7), (std::uint64_t{1} << 32) + 127);
}

// Both kinds of noise: the kernel's numbers, and the noise that it has to equal.
template <class Numbers>
void expect_points(const Numbers& numbers, const Noise& noise, Grid grid) {
  for (const std::size_t size : test::kSizes) {
    const std::vector<float> centre = test::normal_values(size);
    const auto sampler = evolution_strategy({}).sampler(noise);
    sampler->set({.centre = Array<float>::copy_of(centre), .sigma = 0.3F});
    const std::uint64_t index = noise.index(4, size);
    for (const std::size_t point : {0U, 1U}) {
      std::vector<float> expected(size);
      sampler->point(index, point, expected);
      std::vector<float> got(size);
      run_grid(kernels::Perturb<Numbers>{numbers, index, centre.data(), point == 0 ? 0.3F : -0.3F, got.data(), size},
               grid);
      EXPECT_EQ(got, expected) << size;
    }
  }
}

TEST(EvolutionKernels, PointsHaveTheBitsOfTheSampler) {
  const Array<float> table = noise_table(kSearchSeed, 5000);
  for (const Grid grid : test::kGrids) {
    expect_points(CounterNumbers{noise_key(kSearchSeed)}, *counter_noise(kSearchSeed), grid);
    expect_points(TableNumbers{table.data()}, *table_noise(kSearchSeed, table), grid);
  }
}

// A generation of a search in kernels: the gradient of its trials, then a step of Adam.
template <class Numbers>
void expect_generations(const Numbers& numbers, const Noise& noise, std::size_t size, Grid grid) {
  const EvolutionStrategyOptions options{.pairs = 5, .weight_decay = 0.01F};
  std::vector<float> centre = test::normal_values(size);
  const auto search = evolution_strategy(options).search(
      Eigen::Map<const Eigen::VectorXf>(centre.data(), static_cast<Eigen::Index>(size)), noise);
  std::vector<float> first(size);
  std::vector<float> second(size);
  for (std::uint64_t generation = 1; generation <= 3; ++generation) {
    std::vector<Trial> trials(options.pairs);
    std::vector<double> values;
    std::vector<std::uint64_t> indices;
    for (std::uint64_t i = 0; i < trials.size(); ++i) {
      trials[i].index = noise.index(generation * options.pairs + i, size);
      trials[i].values = {static_cast<double>(i * 7 % 5), static_cast<double>(i * 3 % 4)};
      values.insert(values.end(), trials[i].values.begin(), trials[i].values.end());
      indices.push_back(trials[i].index);
    }
    search->tell(trials);
    const std::vector<float> ranks = centred_ranks(values);
    std::vector<float> weights;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      weights.push_back((ranks[2 * i] - ranks[2 * i + 1]) * (1 / static_cast<float>(values.size())));
    }
    std::vector<float> gradient(size);
    run_grid(kernels::SearchGradient<Numbers>{numbers, indices.data(), weights.data(), indices.size(), centre.data(),
                                              options.weight_decay, gradient.data(), size},
             grid);
    kernels::GradientSum sum{.count = 1};
    sum.terms[0].values = gradient.data();
    with_step(options.adam, generation, [&](const auto& step) {
      using Step = std::remove_cvref_t<decltype(step)>;
      run_grid(kernels::Update<Step>{step, sum, centre.data(), first.data(), second.data(), size}, grid);
    });
    const Array<float> expected = search->distribution().centre;
    ASSERT_EQ(centre, std::vector<float>(expected.begin(), expected.end())) << size << " in " << generation;
  }
}

TEST(EvolutionKernels, GenerationsHaveTheBitsOfTheSearch) {
  const Array<float> table = noise_table(kSearchSeed, 5000);
  for (const Grid grid : test::kGrids) {
    for (const std::size_t size : test::kSizes) {
      if (size == 0) continue;
      expect_generations(CounterNumbers{noise_key(kSearchSeed)}, *counter_noise(kSearchSeed), size, grid);
      expect_generations(TableNumbers{table.data()}, *table_noise(kSearchSeed, table), size, grid);
    }
  }
}

// A search and its sampler on queues, beside those of the host.
void expect_equal_searches(const Noise& noise, std::size_t size, Grid grid) {
  const EvolutionStrategyOptions options{.pairs = 4, .weight_decay = 0.01F, .shrink = 0.9F};
  const SearchMethod host_method = evolution_strategy(options);
  const SearchMethod queue_method = evolution_strategy(options, [grid] { return kernels::host_queue(grid); });
  const Eigen::VectorXf start = Eigen::VectorXf::LinSpaced(static_cast<Eigen::Index>(size), -1, 1);
  const auto host = host_method.search(start, noise);
  const auto on_queue = queue_method.search(start, noise);
  const auto host_sampler = host_method.sampler(noise);
  const auto queue_sampler = queue_method.sampler(noise);
  EXPECT_EQ(queue_sampler->points(), host_sampler->points());
  for (std::uint64_t generation = 0; generation < 4; ++generation) {
    host_sampler->set(host->distribution());
    queue_sampler->set(on_queue->distribution());
    std::vector<Trial> trials(options.pairs);
    for (std::uint64_t i = 0; i < trials.size(); ++i) {
      trials[i].index = noise.index(generation * options.pairs + i, size);
      for (const std::size_t number : {0U, 1U}) {
        std::vector<float> expected(size);
        std::vector<float> got(size);
        host_sampler->point(trials[i].index, number, expected);
        queue_sampler->point(trials[i].index, number, got);
        ASSERT_EQ(got, expected) << size << " in " << generation;
        trials[i].values.push_back(static_cast<double>(expected[0]));
      }
    }
    const MetricValues expected = host->tell(trials);
    const MetricValues got = on_queue->tell(trials);
    EXPECT_EQ(got, expected);
    Checkpoint of_host;
    Checkpoint of_queue;
    host->save(of_host);
    on_queue->save(of_queue);
    host->load(of_queue);  // each goes on from the state of the other
    on_queue->load(of_host);
  }
}

TEST(EvolutionKernels, SearchesOnQueuesHaveTheBitsOfTheHost) {
  const Array<float> table = noise_table(kSearchSeed, 5000);
  for (const Grid grid : test::kGrids) {
    for (const std::size_t size : {1U, 64U, 1003U}) {
      expect_equal_searches(*counter_noise(kSearchSeed), size, grid);
      expect_equal_searches(*table_noise(kSearchSeed, table), size, grid);
    }
  }
}

TEST(EvolutionKernels, ASearchOnAQueueRefusesTheStateOfAnotherSize) {
  const auto noise = counter_noise(kSearchSeed);
  const SearchMethod method = evolution_strategy({}, [] { return kernels::host_queue(); });
  Checkpoint saved;
  method.search(Eigen::VectorXf::Zero(3), *noise)->save(saved);
  EXPECT_THROW(method.search(Eigen::VectorXf::Zero(4), *noise)->load(saved), Error);
}

}  // namespace
}  // namespace lp
