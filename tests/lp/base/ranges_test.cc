// Sets of positions against a brute-force set.

#include "lp/base/ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "lp/base/random.h"

namespace lp {
namespace {

TEST(Ranges, EqualASetOfSinglePositions) {
  constexpr std::size_t kMost = 60;
  Random random(7, "ranges");
  Ranges ranges;
  std::vector<bool> there(kMost);
  const auto before = [&](std::size_t most) { return static_cast<std::size_t>(random.below(most)); };
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t begin = before(kMost);
    const std::size_t end = begin + before(kMost - begin + 1);
    const auto first = there.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = there.begin() + static_cast<std::ptrdiff_t>(end);
    const auto known = static_cast<std::size_t>(std::count(first, last, true));
    if (known == 0 && i % 2 == 0) {
      ranges.add({.begin = begin, .end = end});
      std::fill(first, last, true);
    } else {
      ASSERT_EQ(ranges.remove({.begin = begin, .end = end}), known);
      std::fill(first, last, false);
    }
    ASSERT_EQ(ranges.count(), static_cast<std::size_t>(std::count(there.begin(), there.end(), true)));
  }
  ranges.remove({.begin = 0, .end = kMost});
  EXPECT_TRUE(ranges.empty());
}

TEST(Ranges, ThatTouchAreOne) {
  Ranges ranges;
  ranges.add({.begin = 10, .end = 20});
  ranges.add({.begin = 30, .end = 40});
  ranges.add({.begin = 20, .end = 30});
  EXPECT_EQ(ranges.count(), 30U);
  const Ranges::Range all = ranges.take_last();
  EXPECT_EQ(all.begin, 10U);
  EXPECT_EQ(all.end, 40U);
  EXPECT_TRUE(ranges.empty());
}

TEST(Ranges, AreTakenFromTheEnd) {
  Ranges ranges;
  ranges.add({.begin = 0, .end = 1});
  ranges.add({.begin = 5, .end = 8});
  EXPECT_EQ(ranges.take_last().begin, 5U);
  EXPECT_EQ(ranges.count(), 1U);
}

}  // namespace
}  // namespace lp
