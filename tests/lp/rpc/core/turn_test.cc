// A service's turn: which tasks run, wait and are refused while its holder waits for something else.

#include "lp/rpc/core/turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

namespace lp::rpc {
namespace {

// A task that notes its end.
class NotedTask final : public Task {
 public:
  explicit NotedTask(std::uint64_t chain) : Task(chain) {}
  void run() noexcept override {
    ran = true;
    ended.set();
  }
  void refuse(const Error&) noexcept override { ended.set(); }

  std::atomic<bool> ran = false;
  Event ended;
};

constexpr std::uint64_t kChain = 7;

class TurnTest : public testing::Test {
 protected:
  static bool ends(NotedTask& task) { return task.ended.wait(after(std::chrono::seconds(10))); }

  Pool pool_{"turn"};
  Turn turn_{pool_, "server"};
};

TEST_F(TurnTest, TheHoldersWaitRefusesTheTasksOfItsChainAlone) {
  ASSERT_TRUE(turn_.try_take(kChain));
  NotedTask own(kChain);
  NotedTask other(kChain + 2);
  NotedTask probe(0);
  turn_.post(&own);
  turn_.post(&other);
  turn_.post_front(&probe);
  turn_.begin_wait();
  EXPECT_TRUE(ends(own));
  EXPECT_FALSE(own.ran);
  NotedTask late(kChain);
  turn_.post(&late);
  EXPECT_TRUE(ends(late));
  EXPECT_FALSE(late.ran);
  turn_.begin_wait();  // nests
  turn_.end_wait();
  EXPECT_TRUE(turn_.waits());
  turn_.end_wait();
  EXPECT_FALSE(turn_.waits());
  turn_.release();
  EXPECT_TRUE(ends(probe));
  EXPECT_TRUE(ends(other));
  EXPECT_TRUE(probe.ran);
  EXPECT_TRUE(other.ran);
}

TEST_F(TurnTest, ALaterWaitRefusesWhatHasQueuedSinceTheFirst) {
  ASSERT_TRUE(turn_.try_take(kChain));
  NotedTask probe(0);
  turn_.post_front(&probe);
  turn_.begin_wait();
  turn_.end_wait();
  NotedTask own(kChain);
  turn_.post(&own);
  turn_.begin_wait();
  EXPECT_TRUE(ends(own));
  EXPECT_FALSE(own.ran);
  turn_.end_wait();
  turn_.release();
  EXPECT_TRUE(ends(probe));
}

// The call comes back at the moment when the holder begins to wait.
TEST_F(TurnTest, ATaskThatIsPostedAsTheHolderBeginsToWaitIsRefused) {
  for (int round = 0; round < 20'000; ++round) {
    ASSERT_TRUE(turn_.try_take(kChain));
    NotedTask own(kChain);
    std::atomic<bool> posts = false;
    pool_.run([&] {
      posts = true;
      posts.notify_one();
      turn_.post(&own);
    });
    posts.wait(false);  // a loop would keep the processor of a busy machine from the thread that posts
    turn_.begin_wait();
    ASSERT_TRUE(ends(own)) << "round " << round;
    EXPECT_FALSE(own.ran);
    turn_.end_wait();
    turn_.release();
    ASSERT_TRUE(turn_.wait_idle(after(std::chrono::seconds(10))));
  }
}

}  // namespace
}  // namespace lp::rpc
