#include "lp/kernels/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/lp/kernels/grids.h"
#include "tests/lp/kernels/large_values.h"

namespace lp::kernels {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::uint64_t first_bad(Queue& queue, const std::vector<float>& values) {
  const Room<float> room(queue, values);
  BadSearch search(queue);
  search.run(room.data(), room.size());
  std::uint64_t bad = 0;
  queue.to_host(&bad, search.result(), sizeof(bad));
  queue.wait();
  return bad;
}

TEST(BadSearch, FindsTheFirstValueThatIsNotFinite) {
  for (const Grid grid : test::kGrids) {
    const auto queue = host_queue(grid);
    for (const std::size_t size : test::kSizes) {
      std::vector<float> values = test::normal_values(size);
      EXPECT_EQ(first_bad(*queue, values), kAllFinite);
      for (const std::size_t at : {size - 1, size / 2, std::size_t{0}}) {
        if (at >= size) continue;
        for (const float bad : {kNan, -kInfinite, -kNan, kInfinite}) {
          values[at] = bad;
          EXPECT_EQ(first_bad(*queue, values), at) << size;
        }
      }
    }
  }
}

TEST(BadSearch, TheLargestFloatsAreFinite) {
  const auto queue = host_queue();
  EXPECT_EQ(first_bad(*queue, {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), 1e-45F, -0.0F}),
            kAllFinite);
}

TEST(BadSearch, PlacesGoBeyondThirtyTwoBits) {
  const test::LargeValues<float> values((std::size_t{1} << 32) + 11);
  values.last(2)[0] = kNan;
  std::vector<std::uint64_t> found(1);
  const std::uint64_t positions = values.size() - 2;  // thread 0 looks at value 0, then at the one that is bad
  FindBad{.values = values.data(), .size = values.size(), .positions = positions, .found = found.data()}(0);
  EXPECT_EQ(found[0], values.size() - 2);
}

// The definition: by magnitude, then by position.
std::vector<std::uint32_t> largest(const std::vector<float>& values, std::size_t k) {
  const auto magnitude = [&](std::uint32_t i) { return std::isnan(values[i]) ? kInfinite : std::abs(values[i]); };
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return magnitude(a) > magnitude(b); });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

void expect_largest(Queue& queue, const std::vector<float>& values, std::size_t k) {
  const Room<float> room(queue, values);
  TopK top_k(queue, values.size(), k);
  for (int time = 0; time < 2; ++time) {  // the second time, its memory has the numbers of the first
    top_k.run(room.data());
    std::vector<std::uint32_t> positions(k);
    std::vector<float> kept(k);
    top_k.positions().read(positions);
    top_k.kept().read(kept);
    queue.wait();
    EXPECT_EQ(positions, largest(values, k)) << values.size() << ", k = " << k;
    for (std::size_t i = 0; i < k; ++i) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(kept[i]), std::bit_cast<std::uint32_t>(values[positions[i]]));
    }
  }
}

TEST(TopK, KeepsTheLargestAndOfEqualOnesTheFirst) {
  for (const Grid grid : test::kGrids) {
    const auto queue = host_queue(grid);
    for (const std::size_t size : test::kSizes) {
      std::vector<float> values = test::normal_values(size);
      std::vector<float> ties(size);
      for (std::size_t i = 0; i < size; ++i) ties[i] = static_cast<float>(i % 3) * (i % 2 == 0 ? 1.0F : -1.0F);
      for (const std::size_t k : {std::size_t{1}, size / 100, size / 3, size}) {
        if (k == 0 || k > size) continue;
        expect_largest(*queue, values, k);
        expect_largest(*queue, ties, k);
        expect_largest(*queue, std::vector<float>(size), k);
      }
    }
  }
}

TEST(TopK, CountsNanAsInfinite) {
  const auto queue = host_queue();
  std::vector<float> values = test::normal_values(300);
  values[3] = -kInfinite;
  values[100] = kNan;
  values[200] = kInfinite;
  values[299] = -kNan;
  for (const std::size_t k : {1U, 2U, 4U, 5U}) expect_largest(*queue, values, k);
}

TEST(TopK, PartsCoverMoreThanTwoToTheThirtyTwo) {
  constexpr std::uint64_t kMany = (std::uint64_t{1} << 34) + 5;
  constexpr Parts kParts{.size = kMany, .count = 1 << 16};
  EXPECT_EQ(kParts.begin(0), 0U);
  EXPECT_EQ(kParts.begin(1), kParts.length());
  EXPECT_EQ(kParts.begin(kParts.count), kMany);
  for (std::uint64_t part = 0; part < kParts.count; ++part) ASSERT_LE(kParts.begin(part), kParts.begin(part + 1));
}

}  // namespace
}  // namespace lp::kernels
