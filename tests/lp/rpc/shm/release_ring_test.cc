// Leases that are returned: in order, without room, and when the taker must be rung.
#include "lp/rpc/shm/release_ring.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "lp/base/error.h"

namespace lp::rpc {
namespace {

constexpr std::uint64_t kKiB = 1024;

class Leases : public testing::Test {
 protected:
  std::vector<std::uint64_t> taken() {
    std::vector<std::uint64_t> all;
    for (std::uint64_t lease = 0; taker_.take(lease);) all.push_back(lease);
    return all;
  }
  void give(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes = kKiB) {
    for (std::uint64_t lease = begin; lease < end; ++lease) giver_.give(lease, bytes);
  }
  static std::vector<std::uint64_t> numbers(std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t lease = begin; lease < end; ++lease) all.push_back(lease);
    return all;
  }

  ReleaseRing ring_;
  ReleaseWriter giver_{ring_};
  ReleaseReader taker_{ring_};
};

TEST_F(Leases, ComeBackInOrder) {
  EXPECT_FALSE(taker_.any());
  give(0, 3);
  EXPECT_TRUE(taker_.any());
  EXPECT_EQ(taken(), numbers(0, 3));
  EXPECT_FALSE(taker_.any());
  EXPECT_FALSE(taker_.release()) << "nobody waits";
}

TEST_F(Leases, WithoutRoomTheyWaitUntilSomeIsMade) {
  give(0, 3000);
  EXPECT_EQ(taken(), numbers(0, ReleaseRing::kSize));
  EXPECT_TRUE(taker_.release()) << "the giver waits";
  EXPECT_TRUE(giver_.go_on()) << "the taker must be rung";
  EXPECT_FALSE(giver_.go_on());
  EXPECT_EQ(taken(), numbers(ReleaseRing::kSize, 2 * ReleaseRing::kSize));
  EXPECT_TRUE(taker_.release());
  give(3000, 3001);
  EXPECT_EQ(taken(), numbers(2 * ReleaseRing::kSize, 3001));
  EXPECT_FALSE(taker_.release());
}

TEST_F(Leases, TheTakerIsToBeRungWhenThereAreManyOrLargeOnes) {
  EXPECT_FALSE(giver_.give(0, 64 * kKiB));
  EXPECT_TRUE(giver_.give(1, 1024 * kKiB));
  EXPECT_FALSE(giver_.give(2, 64 * kKiB)) << "it was told";
  std::uint64_t given = 3;
  while (!giver_.give(given++, 0)) {
  }
  EXPECT_LT(given, ReleaseRing::kSize);
}

// The taker rings the giver. The giver may have seen the room before that, and then has nothing left to send.
TEST_F(Leases, TheTakerIsToBeRungForWhatWaitedAlsoWhenTheNextIsGivenFirst) {
  give(0, 2 * ReleaseRing::kSize, 0);
  EXPECT_EQ(taken().size(), ReleaseRing::kSize);
  EXPECT_TRUE(taker_.release());
  EXPECT_TRUE(giver_.give(2 * ReleaseRing::kSize, 0));
  EXPECT_FALSE(giver_.go_on());
  EXPECT_EQ(taken().size(), ReleaseRing::kSize);
}

TEST_F(Leases, ATakerThatComesByNeedNotBeRung) {
  for (std::uint64_t lease = 0; lease < 10'000; ++lease) {
    EXPECT_FALSE(giver_.give(lease, 512 * kKiB));
    EXPECT_EQ(taken().size(), 1U);
    taker_.release();
  }
}

TEST_F(Leases, AGiverThatClaimsMoreThanFitsIsRefused) {
  ring_.given = ReleaseRing::kSize + 1;
  std::uint64_t lease = 0;
  EXPECT_THROW(taker_.take(lease), Error);
}

}  // namespace
}  // namespace lp::rpc
