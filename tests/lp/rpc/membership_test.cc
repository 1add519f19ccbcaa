#include "lp/rpc/membership.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <vector>

namespace lp::rpc {
namespace {

using News = Membership::News;

TEST(Membership, BeginsWithEverybody) {
  const Membership group(3);
  EXPECT_EQ(group.now().epoch, 0u);
  EXPECT_EQ(group.now().replicas, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Membership, AChangeIsToldOnceAndAtOnceToWhoKnowsAnOlderEpoch) {
  Membership group(3);
  Future<void> change = group.change(0);
  EXPECT_FALSE(change.ready());
  group.update(0, std::array{News{1, true}});
  EXPECT_FALSE(change.ready());
  group.update(2, std::array{News{1, false}, News{2, false}});
  EXPECT_TRUE(change.ready());
  EXPECT_EQ(group.now().epoch, 2u);
  EXPECT_EQ(group.now().replicas, (std::vector<std::size_t>{0}));
  EXPECT_TRUE(group.change(0).ready());
  EXPECT_FALSE(group.change(2).ready());
}

TEST(Membership, OldNewsChangeNothing) {
  Membership group(2);
  group.update(5, std::array{News{0, false}});
  group.update(4, std::array{News{0, true}});
  EXPECT_EQ(group.now().epoch, 5u);
  EXPECT_EQ(group.now().replicas, (std::vector<std::size_t>{1}));
}

TEST(Membership, WhoWaitsHearsOfTheEnd) {
  Membership group(1);
  Future<void> change = group.change(0);
  group.close();
  Future<void> late = group.change(0);
  for (Future<void>* one : {&change, &late}) {
    try {
      one->get();
      FAIL() << "it has not ended";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::stopped);
    }
  }
}

TEST(Membership, APromiseWhoseFutureIsGoneIsNotWanted) {
  Promise<void> promise;
  std::optional<Future<void>> future = promise.future();
  EXPECT_TRUE(promise.wanted());
  future.reset();
  EXPECT_FALSE(promise.wanted());
}

}  // namespace
}  // namespace lp::rpc
