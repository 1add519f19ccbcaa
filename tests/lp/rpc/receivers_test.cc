// Who answers the bell: always somebody, also while handlers wait or take long.

#include "lp/rpc/receivers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>

namespace lp::internal {
namespace {

const Duration kPatience = std::chrono::seconds(20);

TEST(BellTest, EachMarkIsTakenOnce) {
  auto bell = std::make_unique<Bell>();
  std::set<std::uint32_t> marked;
  for (std::uint32_t lane = 0; lane < Bell::kLanes; lane += 61) {
    bell->mark(lane);
    bell->mark(lane);
    marked.insert(lane);
  }
  std::set<std::uint32_t> taken;
  for (std::uint32_t lane = 0; bell->take(lane);) EXPECT_TRUE(taken.insert(lane).second) << lane;
  EXPECT_EQ(taken, marked);
  EXPECT_EQ(bell->any.load(), 0u);
}

TEST(BellTest, NonsenseInItEnds) {
  auto bell = std::make_unique<Bell>();
  bell->any = ~std::uint64_t{0};
  bell->words[3] = ~std::uint64_t{0};
  std::set<std::uint32_t> taken;
  for (std::uint32_t lane = 0; bell->take(lane);) taken.insert(lane);
  EXPECT_EQ(taken.size(), 64u);
}

TEST(BellTest, NoMarkIsLostBetweenThreads) {
  auto bell = std::make_unique<Bell>();
  constexpr std::uint32_t kLanes = 130;
  std::array<std::atomic<int>, kLanes> wanted{};
  std::atomic<int> ringing = 2;
  std::vector<Thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.push_back(spawn("rings", [&] {
      for (std::uint32_t n = 0; n < 50'000; ++n) {
        wanted[n % kLanes] = 1;
        bell->mark(n % kLanes);
      }
      --ringing;
    }));
  }
  bool last = false;
  while (!last) {
    last = ringing == 0;
    for (std::uint32_t lane = 0; bell->take(lane);) wanted[lane] = 0;
  }
  for (const auto& one : wanted) EXPECT_EQ(one.load(), 0);
}

class ReceiversTest : public ::testing::Test {
 protected:
  Bell& bell() { return *reinterpret_cast<Bell*>(receivers_.bell()->data()); }
  void ring(std::uint32_t lane) {
    receivers_.expect(lane + 1);
    bell().ring(lane);
  }

  std::array<Event, 4> received_;  // by lane
  std::array<Event, 4> go_on_;
  enum Kind { returns, waits, takes_long };
  std::array<std::atomic<Kind>, 4> kind_{};
  Pool pool_{"test"};
  Receivers receivers_{pool_, [this](std::uint32_t lane) {
                         const Kind kind = kind_[lane].exchange(returns);
                         if (kind != returns) Receivers::before_handler(false);
                         received_[lane].set();
                         if (kind == waits) Receivers::before_wait();
                         const bool in_time = kind == returns || go_on_[lane].wait(after(kPatience));
                         EXPECT_TRUE(in_time);
                       }};
};

TEST_F(ReceiversTest, EachRingIsAnswered) {
  for (int i = 0; i < 1000; ++i) {
    const auto lane = static_cast<std::uint32_t>(i % 4);
    ring(lane);
    ASSERT_TRUE(received_[lane].wait(after(kPatience))) << i;
  }
}

TEST_F(ReceiversTest, AnotherThreadTakesThePlaceOfAHandlerThatWaits) {
  for (const Kind kind : {waits, takes_long, waits, takes_long}) {
    for (const std::uint32_t lane : {0u, 1u, 2u}) {  // three at once
      kind_[lane] = kind;
      ring(lane);
      ASSERT_TRUE(received_[lane].wait(after(kPatience)));
    }
    ring(3);
    EXPECT_TRUE(received_[3].wait(after(kPatience))) << "all are busy";
    for (const std::uint32_t lane : {0u, 1u, 2u}) go_on_[lane].set();
    for (const std::uint32_t lane : {0u, 1u, 2u}) {  // whoever took over looked at all lanes
      ring(lane);
      EXPECT_TRUE(received_[lane].wait(after(kPatience)));
    }
  }
}

TEST_F(ReceiversTest, TheyEndWhenTheyAreClosedAlsoInTheMiddleOfAHandler) {
  kind_[0] = waits;
  ring(0);
  ASSERT_TRUE(received_[0].wait(after(kPatience)));
  receivers_.close();
  EXPECT_FALSE(pool_.drain(now()));
  go_on_[0].set();
  EXPECT_TRUE(pool_.drain(after(kPatience)));
  receivers_.close();
}

// A process that was stopped, or died, in the middle of ringing has taken the sleeper's word but not woken it.
TEST_F(ReceiversTest, ALostWakeIsMadeUpFor) {
  ring(0);
  ASSERT_TRUE(received_[0].wait(after(kPatience)));
  bell().asleep = 0;
  bell().mark(1);
  EXPECT_TRUE(received_[1].wait(after(kPatience)));
}

}  // namespace
}  // namespace lp::internal
