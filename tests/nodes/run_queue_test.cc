// Work that handlers leave to run(): its results, its order, and the answers of handlers meanwhile.
#include "nodes/run_queue.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

struct Moment {
  Event begun;
  Event end;
};

class Worker {
 public:
  explicit Worker(Moment& moment) : moment_(moment) {}
  void run(Context& node) { queue_.run(node); }

  Future<int> slow() {
    return queue_.add([this] {
      moment_.begun.set();
      moment_.end.wait();
      return 7;
    });
  }
  Future<void> note(int number) {
    return queue_.add([this, number] { notes_.push_back(number); });
  }
  Future<std::vector<int>> notes() {
    return queue_.add([this] { return notes_; });
  }
  Future<int> wrong() {
    return queue_.add([]() -> int { throw Error(ErrorKind::failed, "it is wrong"); });
  }
  int quick() const { return 1; }

  using Remote = Methods<&Worker::slow, &Worker::note, &Worker::notes, &Worker::wrong, &Worker::quick>;

 private:
  Moment& moment_;
  std::vector<int> notes_{};
  RunQueue queue_{};
};

class RunQueueTest : public testing::Test {
 protected:
  RunQueueTest() { run_.emplace(program_); }

  Client<Worker> client() { return run_->client(worker_); }

  Moment moment_;
  Program program_{"work"};
  Handle<Worker> worker_ = program_.add<Worker>({.name = "worker"}, std::ref(moment_));
  std::optional<LocalRun> run_;
};

TEST_F(RunQueueTest, HandlersAndHeartbeatsAreAnsweredWhileItWorks) {
  Future<int> slow = client().async<&Worker::slow>();
  ASSERT_TRUE(moment_.begun.wait(after(std::chrono::seconds(20))));
  EXPECT_EQ(client().call<&Worker::quick>(), 1);
  Event alive;
  run_->probe("worker", [&alive] { alive.set(); });
  EXPECT_TRUE(alive.wait(after(std::chrono::seconds(20))));
  EXPECT_FALSE(slow.ready());
  moment_.end.set();
  EXPECT_EQ(slow.get(), 7);
}

TEST_F(RunQueueTest, ShortWorkKeepsItsOrderAndLongWorkAfterItGoesBackToRun) {
  std::vector<int> expected;
  for (int i = 0; i < 3 * RunQueue::kProven; ++i) {
    client().call<&Worker::note>(i);
    expected.push_back(i);
  }
  EXPECT_EQ(client().call<&Worker::notes>(), expected);
  Future<int> first = client().async<&Worker::slow>();  // holds the turn: it is the first that is long
  ASSERT_TRUE(moment_.begun.wait(after(std::chrono::seconds(20))));
  EXPECT_FALSE(Event().wait(after(2 * RunQueue::kShort)));  // so long the work takes at least
  moment_.end.set();
  EXPECT_EQ(first.get(), 7);
  Future<int> second = client().async<&Worker::slow>();
  Future<void> behind = client().async<&Worker::note>(-1);
  ASSERT_TRUE(moment_.begun.wait(after(std::chrono::seconds(20))));
  EXPECT_EQ(client().call<&Worker::quick>(), 1);
  EXPECT_FALSE(behind.ready());
  moment_.end.set();
  EXPECT_EQ(second.get(), 7);
  behind.get();
}

TEST_F(RunQueueTest, ItIsDoneInTheOrderInWhichItCame) {
  std::vector<Future<void>> all;
  std::vector<int> expected;
  for (int i = 0; i < 100; ++i) {
    all.push_back(client().async<&Worker::note>(i));
    expected.push_back(i);
  }
  when_all(std::move(all)).get();
  EXPECT_EQ(client().call<&Worker::notes>(), expected);
}

TEST_F(RunQueueTest, WhatItThrowsIsTheCallersError) {
  try {
    client().call<&Worker::wrong>();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.text(), "it is wrong");
  }
  EXPECT_EQ(client().call<&Worker::quick>(), 1);
}

}  // namespace
}  // namespace lp
