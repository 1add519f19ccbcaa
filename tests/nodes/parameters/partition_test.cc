#include "nodes/parameters/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {
namespace {

// Every key belongs to one server, and everything that is said about that agrees.
void check(const Partition& partition, std::uint64_t last) {
  std::uint64_t next = 0;
  std::vector<std::size_t> seen(partition.servers());
  for (std::size_t i = 0; i < partition.segments().size(); ++i) {
    const auto& [keys, server] = partition.segments()[i];
    EXPECT_EQ(keys.begin, next);
    EXPECT_LE(keys.begin, keys.last);
    EXPECT_EQ(partition.ranges(server)[seen[server]++], keys);
    EXPECT_EQ(partition.owner(keys.begin), server);
    EXPECT_EQ(partition.owner(keys.last), server);
    next = keys.last + 1;
    if (i + 1 == partition.segments().size()) {
      EXPECT_EQ(keys.last, last);
    }
  }
  for (std::uint32_t server = 0; server < partition.servers(); ++server) {
    EXPECT_EQ(seen[server], partition.ranges(server).size());
  }
}

constexpr std::uint64_t kAll = ~std::uint64_t{0};

TEST(Partition, EveryKeyHasOneOwner) {
  for (const std::uint32_t servers : {1U, 2U, 3U, 8U, 50U}) {
    for (const std::uint64_t keys :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}, std::uint64_t{1003}, std::uint64_t{1} << 40}) {
      check(Partition::ring(keys, servers), keys - 1);
      check(Partition::slices(keys, servers), keys - 1);
      check(Partition::whole(keys, servers, servers - 1), keys - 1);
    }
    check(Partition::ring(0, servers), kAll);
    check(Partition::slices(0, servers), kAll);
  }
}

TEST(Partition, TheRingIsTheSameInEveryNode) {
  const Partition ring = Partition::ring(100, 3, 2);
  std::vector<std::uint32_t> owners;
  for (const auto& segment : ring.segments()) owners.push_back(segment.server);
  const Partition again = Partition::ring(100, 3, 2);
  ASSERT_EQ(ring.segments().size(), again.segments().size());
  for (std::size_t i = 0; i < owners.size(); ++i) EXPECT_EQ(again.segments()[i].keys, ring.segments()[i].keys);
}

TEST(Partition, VirtualNodesBalanceTheRing) {
  constexpr std::uint64_t kKeys = 1'000'000;
  const auto largest = [](std::uint32_t virtual_nodes) {
    const Partition ring = Partition::ring(kKeys, 8, virtual_nodes);
    std::uint64_t most = 0;
    for (std::uint32_t server = 0; server < 8; ++server) most = std::max(most, key_count(ring.ranges(server)));
    return static_cast<double>(most) * 8 / kKeys;
  };
  EXPECT_LT(largest(Partition::kVirtualNodes), 1.4);
  EXPECT_GT(largest(1), largest(Partition::kVirtualNodes));
}

// What a server owns goes between it and its place on the ring only: nobody else's keys move when one more comes.
TEST(Partition, OneServerMoreMovesOnlyWhatItGets) {
  constexpr std::uint64_t kKeys = 1'000'000;
  const Partition before = Partition::ring(kKeys, 5);
  const Partition after = Partition::ring(kKeys, 6);
  Random random(1, "keys");
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t key = random.below(kKeys);
    if (before.owner(key) != after.owner(key)) {
      EXPECT_EQ(after.owner(key), 5U) << key;
    }
  }
}

TEST(Partition, SlicesDifferByOne) {
  const Partition slices = Partition::slices(1003, 4);
  for (std::uint32_t server = 0; server < 4; ++server) {
    ASSERT_EQ(slices.ranges(server).size(), 1U);
    EXPECT_NEAR(static_cast<double>(key_count(slices.ranges(server))), 1003.0 / 4, 1);
  }
}

TEST(Partition, RefusesWhatCannotBe) {
  EXPECT_THROW(Partition::ring(10, 0), Error);
  EXPECT_THROW(Partition::ring(10, 2, 0), Error);
  EXPECT_THROW(Partition::slices(10, 0), Error);
  EXPECT_THROW(Partition::whole(10, 2, 2), Error);
  EXPECT_THROW(Partition::slices(10, 2).owner(10), Error);
  EXPECT_THROW(key_count(Partition::ring(0, 1).ranges(0)), Error);  // as a dense tensor at one server
}

}  // namespace
}  // namespace lp
