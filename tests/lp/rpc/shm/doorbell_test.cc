// The marks of the bell.

#include "lp/rpc/shm/doorbell.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <vector>

namespace lp::rpc {
namespace {

TEST(BellTest, EachMarkIsTakenOnce) {
  auto bell = std::make_unique<Doorbell>();
  std::set<std::uint32_t> marked;
  for (std::uint32_t lane = 0; lane < Doorbell::kLanes; lane += 61) {
    bell->mark(lane);
    bell->mark(lane);
    marked.insert(lane);
  }
  std::set<std::uint32_t> taken;
  for (std::uint32_t lane = 0; bell->take(lane);) EXPECT_TRUE(taken.insert(lane).second) << lane;
  EXPECT_EQ(taken, marked);
  EXPECT_EQ(bell->any.load(), 0u);
}

TEST(BellTest, LanesHaveTheirTurnOneAfterTheOther) {
  auto bell = std::make_unique<Doorbell>();
  const std::vector<std::uint32_t> lanes{0, 5, 63, 64, 200, 4095};
  for (const std::uint32_t lane : lanes) bell->mark(lane);
  std::uint32_t lane = 5;
  for (std::size_t i = 2; i < 20; ++i) {
    ASSERT_TRUE(bell->take(lane));
    EXPECT_EQ(lane, lanes[i % lanes.size()]);
    bell->mark(lane);
  }
}

TEST(BellTest, NonsenseInItEnds) {
  auto bell = std::make_unique<Doorbell>();
  bell->any = ~std::uint64_t{0};
  bell->words[3] = ~std::uint64_t{0};
  std::set<std::uint32_t> taken;
  for (std::uint32_t lane = 0; bell->take(lane);) taken.insert(lane);
  EXPECT_EQ(taken.size(), 64u);
}

TEST(BellTest, NoMarkIsLostBetweenThreads) {
  auto bell = std::make_unique<Doorbell>();
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

// The other thread may have no processor.
void aside_after(int looks) {
  if (looks % 1000 == 0) step_aside();
}

// Two lanes share a word. The second lane is marked while the first is taken, again and again. Each mark must be found
// before the next round. A busy machine makes fewer rounds.
TEST(BellTest, NoMarkIsLostBesideOneThatIsTaken) {
  auto bell = std::make_unique<Doorbell>();
  constexpr std::uint32_t kRounds = 20'000;
  const Time end = after(std::chrono::seconds(5));
  std::atomic<bool> over = false;
  std::atomic<std::uint32_t> marked = 0;
  std::atomic<std::uint32_t> found = 0;
  const Thread marks = spawn("marks", [&] {
    for (std::uint32_t round = 1; !over; ++round) {
      bell->mark(0);
      bell->mark(1);
      marked = round;
      for (int looks = 1; found.load() < round && !over; ++looks) aside_after(looks);
    }
  });
  std::array<std::uint32_t, 2> taken{};
  std::uint32_t lost = 0;
  int looks = 0;
  for (std::uint32_t round = 1; round <= kRounds && !passed(end);) {
    const bool all = marked.load() == round;
    for (std::uint32_t lane = 0; bell->take(lane);) taken.at(lane) = round;
    aside_after(++looks);
    if (!all) continue;
    for (const std::uint32_t last : taken) lost += last != round ? 1 : 0;
    found = round++;
  }
  over = true;
  EXPECT_EQ(lost, 0u);
}

}  // namespace
}  // namespace lp::rpc
