// Sums, maxima and minima of all types over the ranks of a collective.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lp/lp.h"
#include "nodes/collective/collective.h"
#include "tests/nodes/collective/collective_group.h"

namespace lp {
namespace {

using test::Group;

// The value that member k gives at position i.
template <class T>
T given(std::uint32_t member, std::size_t i) {
  const auto number = static_cast<std::int64_t>((i * 7 + member * 13) % 31) - 15;
  // no float can hold it
  if constexpr (sizeof(T) == 8) return static_cast<T>(number) + static_cast<T>(std::int64_t{1} << 40);
  return static_cast<T>(number);
}
template <class T>
void expect_reductions(Collective& all, std::uint32_t index, std::uint32_t members) {
  for (const std::size_t size : {0U, 1U, 3U, 5000U}) {
    for (const Reduction reduction : {Reduction::sum, Reduction::max, Reduction::min}) {
      std::vector<T> values(size), expected(size);
      for (std::size_t i = 0; i < size; ++i) {
        values[i] = given<T>(index, i);
        expected[i] = given<T>(0, i);
        for (std::uint32_t member = 1; member < members; ++member) {
          const T one = given<T>(member, i);
          expected[i] = reduction == Reduction::sum   ? expected[i] + one
                        : reduction == Reduction::max ? std::max(expected[i], one)
                                                      : std::min(expected[i], one);
        }
      }
      all.allreduce(values, reduction);
      EXPECT_EQ(values, expected) << size << " " << static_cast<int>(reduction);
    }
  }
}

TEST(Reductions, OfEveryTypeAreTheSameInEveryRank) {
  for (const bool serialize : {false, true}) {
    constexpr std::uint32_t kMembers = 3;
    Group group(
        kMembers,
        [](Collective& all, std::uint32_t index) {
          all.join();
          expect_reductions<float>(all, index, kMembers);
          expect_reductions<double>(all, index, kMembers);
          expect_reductions<std::int32_t>(all, index, kMembers);
          expect_reductions<std::int64_t>(all, index, kMembers);
        },
        {}, serialize);
    group.finish();
  }
}

TEST(Reductions, KeepANaNAndWrapIntegersAround) {
  Group group(2, [](Collective& all, std::uint32_t index) {
    all.join();
    std::vector<double> numbers{index == 0 ? std::nan("") : 1, index == 1 ? std::nan("") : 1};
    all.allreduce(numbers, Reduction::max);
    EXPECT_TRUE(std::isnan(numbers[0]) && std::isnan(numbers[1]));
    std::vector<std::int32_t> most{std::numeric_limits<std::int32_t>::max()};
    all.allreduce(most, Reduction::sum);
    EXPECT_EQ(most[0], -2);
  });
  group.finish();
}

TEST(Reductions, OfDifferentKindsOrTypesAreRefused) {
  std::atomic<int> refused = 0;
  Group group(2, [&](Collective& all, std::uint32_t index) {
    all.join();
    try {
      if (index == 0) {
        std::vector<double> values(4);
        all.allreduce(values, Reduction::max);
      } else {
        std::vector<std::int64_t> values(4);
        all.allreduce(values, Reduction::max);
      }
    } catch (const Error& error) {
      ++refused;
    }
  });
  group.finish();
  EXPECT_EQ(refused, 2);
}

}  // namespace
}  // namespace lp
