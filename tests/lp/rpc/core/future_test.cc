// Futures outside all nodes, and turns by themselves.

#include "lp/rpc/core/future.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lp/rpc/core/turn.h"

namespace lp {
namespace {

TEST(Futures, GetWaitsForAnotherThread) {
  Promise<std::string> promise;
  Future<std::string> future = promise.future();
  EXPECT_FALSE(future.ready());
  EXPECT_EQ(future.get_for(std::chrono::milliseconds(1)), std::nullopt);
  const Thread setter = spawn("setter", [&] { promise.set_value("there"); });
  EXPECT_EQ(future.get(), "there");
  EXPECT_FALSE(future.valid());
}

TEST(Futures, ADroppedPromiseFailsItsFuture) {
  Future<int> future = Promise<int>().future();
  EXPECT_THROW(future.get(), Error);
}

TEST(Futures, ThenChainsValuesErrorsAndFutures) {
  Promise<int> promise;
  auto text = promise.future().then([](int x) { return x + 1; }).then([](int x) { return ready(std::to_string(x)); });
  promise.set_value(4);
  EXPECT_EQ(text.get(), "5");

  Promise<int> fails;
  bool ran = false;
  auto after_failure = fails.future().then([&](int) { ran = true; });
  fails.set_error(Error(ErrorKind::overloaded, "later"));
  try {
    after_failure.get();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::overloaded);
  }
  EXPECT_FALSE(ran);

  auto rescued = Promise<int>().future().then([](Future<int> result) {
    try {
      return result.get();
    } catch (const Error&) {
      return -1;
    }
  });
  EXPECT_EQ(rescued.get(), -1);

  auto throws = ready(1).then([](int) -> int { throw std::out_of_range("far"); });
  try {
    throws.get();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.origin().type, "std::out_of_range");
  }
}

TEST(Futures, MoveOnlyValues) {
  Promise<std::unique_ptr<int>> promise;
  auto future = promise.future().then([](std::unique_ptr<int> value) { return *value; });
  promise.set_value(std::make_unique<int>(3));
  EXPECT_EQ(future.get(), 3);
}

TEST(Futures, WhenAllKeepsTheOrderAndCancelsTheRestAtAFailure) {
  std::vector<Promise<int>> promises(3);
  std::vector<Future<int>> futures;
  for (auto& promise : promises) futures.push_back(promise.future());
  auto all = when_all(std::move(futures));
  for (int i = 2; i >= 0; --i) promises[static_cast<std::size_t>(i)].set_value(i);
  EXPECT_EQ(all.get(), (std::vector<int>{0, 1, 2}));
  EXPECT_TRUE(when_all(std::vector<Future<int>>()).get().empty());

  std::vector<Promise<int>> more(2);
  std::vector<Future<int>> pair;
  for (auto& promise : more) pair.push_back(promise.future());
  auto failed = when_all(std::move(pair));
  more[1].set_error(Error(ErrorKind::failed, "first"));
  EXPECT_THROW(failed.get(), Error);  // though more[0] never comes
}

TEST(Futures, WhenAnyIsTheFirstSuccess) {
  std::vector<Promise<int>> promises(3);
  std::vector<Future<int>> futures;
  for (auto& promise : promises) futures.push_back(promise.future());
  auto any = when_any(std::move(futures));
  promises[0].set_error(Error(ErrorKind::failed, "no"));
  EXPECT_FALSE(any.ready());
  promises[2].set_value(7);
  EXPECT_EQ(any.get(), (std::pair<std::size_t, int>{2, 7}));
}

TEST(Futures, WhenReadyTellsTheFirstAndLeavesThemAll) {
  std::vector<Promise<int>> promises(3);
  std::vector<Future<int>> futures;
  for (Promise<int>& promise : promises) futures.push_back(promise.future());
  const std::vector<const Future<int>*> all{&futures[0], &futures[1], &futures[2]};
  auto first = when_ready<int>(all);
  EXPECT_FALSE(first.ready());
  promises[1].set_error(Error(ErrorKind::failed, "no"));
  promises[2].set_value(7);
  EXPECT_EQ(first.get(), 1u);
  EXPECT_THROW(futures[1].get(), Error);
  EXPECT_EQ(futures[2].get(), 7);
  auto again = when_ready<int>({all.data(), 1});
  promises[0].set_value(5);
  EXPECT_EQ(again.get(), 0u);
  EXPECT_EQ(futures[0].get(), 5);
  EXPECT_THROW(static_cast<void>(when_ready<int>({})), Error);
}

Future<int> sum_of(Future<int> a, Future<int> b) {
  const int first = co_await a;
  co_return first + co_await b;
}

TEST(Futures, CoroutinesAwaitNamedFutures) {
  Promise<int> a;
  Promise<int> b;
  auto sum = sum_of(a.future(), b.future());
  b.set_value(2);
  EXPECT_FALSE(sum.ready());
  a.set_value(1);
  EXPECT_EQ(sum.get(), 3);

  Promise<int> fails;
  auto failed = sum_of(fails.future(), ready(1));
  fails.set_error(Error(ErrorKind::deadline, "late"));
  EXPECT_THROW(failed.get(), Error);
}

TEST(Futures, ACoroutineWhosePromiseIsDroppedEndsWithoutALeak) {
  auto witness = std::make_shared<int>(1);
  const auto wait = [](Future<int> future, std::shared_ptr<int>) -> Future<int> { co_return co_await future; };
  Future<int> result;
  {
    Promise<int> promise;
    result = wait(promise.future(), witness);
    EXPECT_EQ(witness.use_count(), 2);
  }
  EXPECT_THROW(result.get(), Error);
  EXPECT_EQ(witness.use_count(), 1);
}

// Records when it ran.
class Note final : public rpc::Task {
 public:
  Note(std::vector<int>& out, int number, std::uint64_t chain = 0) : Task(chain), out_(out), number_(number) {}
  void run() noexcept override {
    out_.push_back(number_);
    delete this;
  }
  void refuse(const Error&) noexcept override {
    out_.push_back(-number_);
    delete this;
  }

 private:
  std::vector<int>& out_;
  int number_;
};

// Signals that the tasks before it have run.
class Signal final : public rpc::Task {
 public:
  explicit Signal(Event& event) : event_(event) {}
  void run() noexcept override {
    event_.set();
    delete this;
  }
  void refuse(const Error&) noexcept override { delete this; }

 private:
  Event& event_;
};

TEST(Turns, QueuedTasksRunInOrderWhenTheTurnIsReleased) {
  Pool pool("test");
  std::vector<int> ran;
  Event all;
  rpc::Turn turn(pool, "node");
  ASSERT_TRUE(turn.try_take(1));
  EXPECT_FALSE(turn.try_take(2));
  for (int i = 1; i <= 3; ++i) turn.post(new Note(ran, i));
  turn.post(new Signal(all));
  EXPECT_TRUE(ran.empty());
  turn.release();
  EXPECT_TRUE(all.wait(after(std::chrono::seconds(10))));
  turn.close(Error(ErrorKind::stopped, "end"));
  ASSERT_TRUE(turn.wait_idle(after(std::chrono::seconds(10))));
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3}));
}

TEST(Turns, AParkedHolderRefusesItsOwnChainAndNoOther) {
  Pool pool("test");
  std::vector<int> ran;
  rpc::Turn turn(pool, "node");
  ASSERT_TRUE(turn.try_take(7));
  turn.post(new Note(ran, 1, 7));  // queued before the holder waits
  turn.begin_wait();
  EXPECT_EQ(ran, (std::vector<int>{-1}));
  turn.post(new Note(ran, 2, 7));
  EXPECT_EQ(ran, (std::vector<int>{-1, -2}));
  turn.post(new Note(ran, 3, 8));
  turn.end_wait();
  turn.release();
  EXPECT_TRUE(pool.drain(after(std::chrono::seconds(10))));
  EXPECT_EQ(ran, (std::vector<int>{-1, -2, 3}));
}

}  // namespace
}  // namespace lp
