#include "lp/kernels/grid.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/lp/kernels/grids.h"

namespace lp::kernels {
namespace {

// Notes the indices that it runs.
struct Noted {
  std::uint64_t count;
  std::vector<std::uint64_t>* seen;

  std::uint64_t indices() const { return count; }
  void operator()(std::uint64_t index) const { seen->push_back(index); }
};

TEST(Grid, RunsEachIndexOnce) {
  for (const Grid grid : test::kGrids) {
    for (const std::uint64_t size : test::kSizes) {
      std::vector<std::uint64_t> seen;
      run_grid(Noted{size, &seen}, grid);
      std::sort(seen.begin(), seen.end());
      std::vector<std::uint64_t> all(size);
      for (std::uint64_t i = 0; i < size; ++i) all[i] = i;
      EXPECT_EQ(seen, all) << grid.blocks << " x " << grid.threads << ", " << size;
    }
  }
}

TEST(Grid, ThreadsStepBeyondThirtyTwoBits) {
  constexpr std::uint64_t kIndices = (std::uint64_t{1} << 33) + 7;
  constexpr std::uint64_t kThreads = std::uint64_t{1} << 31;
  std::vector<std::uint64_t> seen;
  run_thread(Noted{kIndices, &seen}, /*thread=*/6, kThreads);
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{6, 6 + kThreads, 6 + 2 * kThreads, 6 + 3 * kThreads, 6 + 4 * kThreads}));
  seen.clear();
  run_thread(Noted{kIndices, &seen}, /*thread=*/7, kThreads);
  EXPECT_EQ(seen.size(), 4U);
}

TEST(Grid, HasAThreadForEachIndexUpToTheLargest) {
  EXPECT_EQ(grid_for(0, 100).all(), 256U);
  EXPECT_EQ(grid_for(256, 100).blocks, 1U);
  EXPECT_EQ(grid_for(257, 100).blocks, 2U);
  EXPECT_EQ(grid_for(std::uint64_t{1} << 40, 100).blocks, 100U);
  EXPECT_EQ(grid_for(~std::uint64_t{0} >> 1, 1U << 31).all(), std::uint64_t{1} << 39);
}

}  // namespace
}  // namespace lp::kernels
