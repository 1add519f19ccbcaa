// The continuations of replies run in the turn of the node that asked, in the order of the replies, and hold up nobody
// else, on every path.

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

constexpr Duration kPatience = std::chrono::seconds(20);

// What a test and its nodes notify one another about.
struct Signals {
  Event inside{};  // a continuation or a handler is inside, and stays there until `release`
  Event release{};
  Event asked{};   // a caller waits inside the service
  Event answer{};  // lets the service answer that caller
};

class BackService {
 public:
  explicit BackService(Signals* signals) : signals_(*signals) {}
  int number(int i) { return i; }
  int slow(int i) {
    signals_.asked.set();
    signals_.answer.wait(after(kPatience));
    return i;
  }
  using Remote = Methods<&BackService::number, concurrent<&BackService::slow, 2>>;

 private:
  Signals& signals_;
};

class FrontService {
 public:
  FrontService(Client<BackService> back, Signals* signals) : back_(std::move(back)), signals_(*signals) {}

  std::vector<int> in_order(int count) {
    order_.clear();
    std::vector<Future<void>> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(back_.async<&BackService::number>(i).then([this](int number) { order_.push_back(number); }));
    }
    waits_.push_back(when_all(std::move(all)).then([](std::vector<std::monostate>) {}));
    return {};
  }
  Future<std::vector<int>> order() {
    Future<void> last = std::move(waits_.back());
    waits_.pop_back();
    return std::move(last).then([this] { return order_; });
  }
  Future<int> again(int i) {
    return back_.async<&BackService::number>(i).then(
        [this](int number) { return back_.call<&BackService::number>(number + 1); });
  }
  Future<int> stays(int i) {
    return back_.async<&BackService::number>(i).then([this](int number) {
      signals_.inside.set();
      signals_.release.wait(after(kPatience));
      return number;
    });
  }
  Future<int> reads_turn(int i) {
    ++in_turn_;
    Future<int> later = back_.async<&BackService::number>(i).then([this](int number) {
      const int before = in_turn_++;
      return in_turn_ == before + 1 ? number : -1;
    });
    return later;
  }
  int stays_inside(int i) {
    signals_.inside.set();
    signals_.release.wait(after(kPatience));
    return i;
  }
  using Remote = Methods<&FrontService::in_order, &FrontService::order, &FrontService::again, &FrontService::stays,
                         &FrontService::reads_turn, &FrontService::stays_inside>;

 private:
  Client<BackService> back_;
  Signals& signals_;
  std::vector<int> order_;
  std::vector<Future<void>> waits_;
  int in_turn_ = 0;  // a race when two run at once
};

// Stands beside the service and calls the front.
class CallingBack {
 public:
  explicit CallingBack(Client<FrontService> front) : front_(std::move(front)) {}
  Future<int> call_back(int i) { return front_.async<&FrontService::stays_inside>(i); }
  using Remote = Methods<&CallingBack::call_back>;

 private:
  Client<FrontService> front_;
};

class Continuations : public ::testing::TestWithParam<Reach> {
 protected:
  Continuations() : run_(program_, GetParam()) {
    run_.calling().start_one("front", 1, GetParam() < Reach::shm ? 1 : 0);
  }

  // Starts the third node where the service is. It calls the front on the path that the test takes.
  void start_third() {
    const bool apart = &run_.calling() != &run_.serving();
    run_.serving().start_one("third", 1, apart ? 1 : 2);
    if (!apart) return;
    announce(run_.calling(), "third", run_.serving());
    announce(run_.serving(), "front", run_.calling());
  }
  static void announce(LocalRun& to, const std::string& node, LocalRun& home) {
    const PeerState up{.node = home.id(node), .incarnation = 1, .endpoint = home.runtime().endpoint()};
    to.runtime().update(std::span(&up, 1));
  }

  Signals signals_;
  Program program_{"continuations"};
  const Handle<BackService> service_ = program_.add<BackService>({.name = "service"}, &signals_);
  const Handle<FrontService> front_ = program_.add<FrontService>({.name = "front"}, service_, &signals_);
  const Handle<CallingBack> third_ = program_.add<CallingBack>({.name = "third"}, front_);
  ReachedRun run_;
};
INSTANTIATE_TEST_SUITE_P(Paths, Continuations, kEachPath, reach_name);

TEST_P(Continuations, RunInTheOrderOfTheReplies) {
  constexpr int kCalls = 5000;
  const auto front = run_.client(front_);
  front.call<&FrontService::in_order>(kCalls);
  std::vector<int> expected(kCalls);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(front.call<&FrontService::order>(), expected);
}

TEST_P(Continuations, MayWaitForTheSameServiceAgain) {
  const auto front = run_.client(front_);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(front.call<&FrontService::again>(i), i + 1);
}

TEST_P(Continuations, RunOneAtATimeWithTheHandlers) {
  const auto front = run_.client(front_);
  std::vector<Thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.push_back(spawn("caller", [&] {
      for (int i = 0; i < 500; ++i) EXPECT_EQ(front.call<&FrontService::reads_turn>(i), i);
    }));
  }
}

TEST_P(Continuations, ThatStayHoldUpNoOtherCallOfTheSamePath) {
  const auto front = run_.client(front_);
  const auto service = run_.client(service_);
  Future<int> stays = front.async<&FrontService::stays>(1);
  EXPECT_TRUE(signals_.inside.wait(after(kPatience)));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(service.within(kPatience / 2).call<&BackService::number>(i), i);
  signals_.release.set();
  EXPECT_EQ(stays.get(), 1);
}

// A thread that waits for its own reply may be the one that reads the path.
TEST_P(Continuations, ThatStayHoldUpNoCallThatWaits) {
  const auto front = run_.client(front_);
  const auto service = run_.client(service_);
  Event answered;
  const Thread caller = spawn("caller", [&] {
    EXPECT_EQ(service.within(kPatience / 2).call<&BackService::slow>(7), 7);
    answered.set();
  });
  EXPECT_TRUE(signals_.asked.wait(after(kPatience)));
  Future<int> stays = front.async<&FrontService::stays>(1);
  EXPECT_TRUE(signals_.inside.wait(after(kPatience)));
  signals_.answer.set();
  EXPECT_TRUE(answered.wait(after(kPatience)));
  signals_.release.set();
  EXPECT_EQ(stays.get(), 1);
}

TEST_P(Continuations, OrHandlersThatStayHoldUpNoCallThatWaits) {
  start_third();
  const auto service = run_.client(service_);
  Event answered;
  const Thread caller = spawn("caller", [&] {
    EXPECT_EQ(service.within(kPatience / 2).call<&BackService::slow>(7), 7);
    answered.set();
  });
  EXPECT_TRUE(signals_.asked.wait(after(kPatience)));
  Future<int> stays = run_.client(third_).async<&CallingBack::call_back>(1);
  EXPECT_TRUE(signals_.inside.wait(after(kPatience)));
  signals_.answer.set();
  EXPECT_TRUE(answered.wait(after(kPatience)));
  signals_.release.set();
  EXPECT_EQ(stays.get(), 1);
}

}  // namespace
}  // namespace lp
