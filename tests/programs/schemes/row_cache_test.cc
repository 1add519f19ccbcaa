#include "programs/schemes/row_cache.h"

#include <gtest/gtest.h>

#include <vector>

#include "lp/base/error.h"

namespace lp {
namespace {

Array<std::uint64_t> keys_of(std::vector<std::uint64_t> keys) { return Array<std::uint64_t>::copy_of(keys); }

// A cached row may be served iff its clock ≥ max(0, c − s).
TEST(RowCache, ServesARowIffItsClockIsAtLeastTheReadersMinusTheStaleness) {
  for (const std::uint64_t staleness : {0U, 1U, 3U}) {
    RowCache cache(1, staleness);
    const auto key = keys_of({7});
    for (std::uint64_t row = 0; row < 6; ++row) {
      cache.put(key, std::vector<float>{1}, row);
      for (std::uint64_t now = 0; now < 12; ++now) {
        const std::uint64_t needed = now > staleness ? now - staleness : 0;
        EXPECT_EQ(cache.stale(key, now).empty(), row >= needed) << row << " at " << now << ", s " << staleness;
      }
    }
  }
}

TEST(RowCache, NamesOnlyTheRowsThatMustBeFetched) {
  RowCache cache(2, 1);
  EXPECT_EQ(cache.stale(keys_of({1, 2, 3}), 0), keys_of({1, 2, 3}));
  cache.put(keys_of({1, 2, 3}), std::vector<float>{1, 1, 2, 2, 3, 3}, 0);
  EXPECT_TRUE(cache.stale(keys_of({1, 2, 3}), 1).empty());
  cache.put(keys_of({2}), std::vector<float>{5, 6}, 4);
  EXPECT_EQ(cache.stale(keys_of({1, 2, 3}), 5), keys_of({1, 3}));
  std::vector<float> rows(4);
  cache.read(keys_of({2, 3}), rows);
  EXPECT_EQ(rows, (std::vector<float>{5, 6, 3, 3}));
  EXPECT_EQ(cache.misses(), 5U);
  EXPECT_EQ(cache.hits(), 4U);
  EXPECT_THROW(cache.read(keys_of({9}), std::span(rows).first(2)), Error);
}

TEST(RowCache, ShowsItsWorkersOwnUpdatesAtOnce) {
  RowCache cache(1, 9);
  cache.put(keys_of({1, 2}), std::vector<float>{1, 2}, 0);
  cache.add(keys_of({2, 3}), std::vector<float>{10, 10});  // 3 is not here: it comes from the server
  std::vector<float> rows(2);
  cache.read(keys_of({1, 2}), rows);
  EXPECT_EQ(rows, (std::vector<float>{1, 12}));
  cache.clear();
  EXPECT_EQ(cache.stale(keys_of({1, 2}), 0).size(), 2U);
}

}  // namespace
}  // namespace lp
