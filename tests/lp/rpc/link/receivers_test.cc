// Receiving: some thread always receives, also while handlers wait or take long.

#include "lp/rpc/link/receivers.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>

#include "lp/rpc/link/before_wait.h"

namespace lp::rpc {
namespace {

const Duration kPatience = std::chrono::seconds(20);

// Handlers by number, each of which runs when it is rung.
class Rung final : public Receivers::Source {
 public:
  enum Kind { returns, waits, sleeps, works };

  void ring(int number) {
    rung_.fetch_or(1u << number);
    something_.set();
    if (post.busy()) post.wake_standby();
  }
  void receive() override {
    for (int number = 0; number < 4 && Receivers::on_duty(); ++number) {
      if ((rung_.fetch_and(~(1u << number)) & 1u << number) == 0) continue;
      const Kind what = kind[at(number)].exchange(returns);
      if (what != returns) Receivers::before_handler(false);
      received[at(number)].set();
      if (what == waits) BeforeWait::hand_over_all();
      if (what == works) {
        const Time end = after(kPatience);
        while (!worked_enough && !passed(end)) relax();
        EXPECT_TRUE(worked_enough);
      } else if (what != returns) {
        EXPECT_TRUE(go_on[at(number)].wait(after(kPatience)));
        went_on[at(number)].set();
      }
    }
  }
  void wait() override { something_.wait(); }
  void wake() noexcept override { something_.set(); }
  Successor successor() const noexcept override { return Successor::now; }

  Receivers::Post post;
  std::array<std::atomic<Kind>, 4> kind{};
  std::array<Event, 4> received;
  std::array<Event, 4> go_on;
  std::array<Event, 4> went_on;
  std::atomic<bool> worked_enough = false;

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }
  std::atomic<unsigned> rung_ = 0;
  Event something_;
};

class ReceiversTest : public ::testing::Test {
 protected:
  ~ReceiversTest() override {
    receivers_.close();
    EXPECT_TRUE(pool_.drain(after(kPatience)));
  }
  // Returns whether it is received soon.
  bool ring(int number) {
    source_->ring(number);
    return source_->received[static_cast<std::size_t>(number)].wait(after(kPatience));
  }

  Pool pool_{"test"};
  const std::shared_ptr<Rung> source_ = std::make_shared<Rung>();
  Receivers receivers_{pool_, source_->post, source_};
};

TEST_F(ReceiversTest, EachRingIsAnswered) {
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(ring(i % 4)) << i;
}

TEST_F(ReceiversTest, AnotherThreadTakesThePlaceOfAHandlerThatWaits) {
  for (const Rung::Kind kind : {Rung::waits, Rung::sleeps, Rung::waits, Rung::sleeps}) {
    for (const int number : {0, 1, 2}) {  // three at once
      source_->kind[static_cast<std::size_t>(number)] = kind;
      ASSERT_TRUE(ring(number));
    }
    EXPECT_TRUE(ring(3)) << "all are busy";
    for (const std::size_t number : {0u, 1u, 2u}) {
      source_->go_on[number].set();
      EXPECT_TRUE(source_->went_on[number].wait(after(kPatience)));
    }
    for (const int number : {0, 1, 2}) EXPECT_TRUE(ring(number));
  }
}

TEST_F(ReceiversTest, AnotherThreadTakesThePlaceOfAHandlerThatWorksForLong) {
  source_->kind[0] = Rung::works;
  ASSERT_TRUE(ring(0));
  EXPECT_TRUE(ring(1));
  source_->worked_enough = true;
  EXPECT_TRUE(ring(0));
}

TEST_F(ReceiversTest, TheyEndWhenTheyAreClosedAlsoInTheMiddleOfAHandler) {
  source_->kind[0] = Rung::waits;
  ASSERT_TRUE(ring(0));
  receivers_.close();
  EXPECT_FALSE(pool_.drain(now()));
  source_->go_on[0].set();
  EXPECT_TRUE(pool_.drain(after(kPatience)));
  receivers_.close();
}

}  // namespace
}  // namespace lp::rpc
