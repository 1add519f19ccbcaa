// The bytes of waiting calls are bounded, on every path: past the bound a caller waits, or its call ends with
// `overloaded`; small calls pass; and all goes on when there is room.

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/on_each_path.h"

namespace lp {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kBound = 64 * kMiB;  // for a service, on the smallest machine
constexpr std::size_t kWindow = 16 * kMiB;
constexpr Duration kSoon = std::chrono::milliseconds(100);
using Bytes = Array<std::byte>;

struct Gate {
  Event inside{};           // the first call is inside
  Event open{};             // it goes on
  std::vector<int> done{};  // in the service's turn
  std::atomic<bool> holds_second = false;
  Event second{};  // it is there, and goes on
  Event go_on{};   // when this is set
};

class Service {
 public:
  explicit Service(Gate* gate) : gate_(*gate) {}
  int take(Bytes, int number) {
    if (gate_.done.empty()) {
      gate_.inside.set();
      gate_.open.wait();
    }
    if (gate_.done.size() == 1 && gate_.holds_second) {
      gate_.second.set();
      gate_.go_on.wait();
    }
    gate_.done.push_back(number);
    return number;
  }
  Stream<int> listen(Bytes, int number) { co_yield number; }
  int ping() { return 1; }
  std::vector<int> done() { return gate_.done; }
  using Remote = Methods<&Service::take, &Service::listen, concurrent<&Service::ping, 8>, &Service::done>;

 private:
  Gate& gate_;
};

// Sends from a handler.
class Relay {
 public:
  explicit Relay(Client<Service> service) : service_(service) {}
  int flood(int size) {
    const Bytes bytes(static_cast<std::size_t>(size));
    for (int number = 0;; ++number) {
      try {
        service_.send<&Service::take>(bytes, number);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::overloaded) throw;
        service_.send<&Service::take>(Bytes(), number);  // a small call passes, and none of those before it
        return number;
      }
    }
  }
  std::vector<int> done() { return service_.call<&Service::done>(); }  // behind all that it has sent
  using Remote = Methods<&Relay::flood, &Relay::done>;

 private:
  Client<Service> service_;
};

class Bounds : public ::testing::TestWithParam<Reach> {
 protected:
  // Calls f(number) until it throws an error of this kind. Returns how often it did not.
  template <class F>
  static int count_until(ErrorKind kind, F f) {
    for (int number = 0;; ++number) {
      try {
        f(number);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
        return number;
      }
    }
  }
  // At most `bounds` times the service's bound, and in addition the messages that need no room and the running call.
  static void expect_bounded(int calls, std::size_t size, std::size_t bounds = 1) {
    EXPECT_GE(static_cast<std::size_t>(calls + 1) * size, kBound);
    EXPECT_LE(static_cast<std::size_t>(calls) * size, bounds * kBound + kWindow + size);
  }
  // Lets the service go on: all accepted calls are executed, in order.
  void expect_all(int calls) {
    expect_all(calls, [this] { return client().call<&Service::done>(); });
  }
  // `done` asks as the caller whose calls they were: calls of others may pass them.
  template <class Done>
  void expect_all(int calls, Done done) {
    EXPECT_EQ(client().call<&Service::ping>(), 1);  // it passes
    gate_.open.set();
    std::vector<int> expected(static_cast<std::size_t>(calls));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(done(), expected);
  }
  // Calls that wait to leave for the service have as much room again.
  static std::size_t bounds() { return GetParam() == Reach::shm || GetParam() == Reach::tcp ? 2 : 1; }
  Client<Service> client() { return run_.client(service_); }

  Gate gate_;
  Program program_{"bounds"};
  const Handle<Service> service_ = program_.add<Service>({.name = "service"}, &gate_);
  const Handle<Relay> relay_ = program_.add<Relay>({.name = "relay"}, service_);
  ReachedRun run_{program_, GetParam(), {.process = {.memory = 1}}};
};
INSTANTIATE_TEST_SUITE_P(Paths, Bounds, kEachPath, reach_name);

TEST_P(Bounds, WhoSendsWaitsUntilThereIsRoom) {
  const Bytes bytes(8 * kMiB);
  const int calls = count_until(ErrorKind::deadline, [&](int number) {
    if (number == 1) gate_.inside.wait();
    const bool has_room = static_cast<std::size_t>(number + 2) * bytes.size() <= kBound;
    client().within(has_room ? std::chrono::seconds(20) : kSoon).send<&Service::take>(bytes, number);
  });
  expect_bounded(calls, bytes.size());
  gate_.open.set();
}

TEST_P(Bounds, SmallerCallsCountAsWell) {
  const Bytes bytes(64 << 10);
  const int calls = count_until(ErrorKind::overloaded, [&](int number) {
    client().at_once().send<&Service::take>(bytes, number);
    if (number == 0) gate_.inside.wait();
  });
  expect_bounded(calls, bytes.size(), bounds());
  expect_all(calls);
}

TEST_P(Bounds, AConcurrentMethodAnswersWhileCallsOfTheSameCallerWaitForRoom) {
  const Bytes bytes(64 << 10);
  int calls = 0;
  while (static_cast<std::size_t>(calls + 8) * bytes.size() < bounds() * kBound) {  // a message has a head as well
    try {
      client().at_once().send<&Service::take>(bytes, calls);
      if (++calls == 1) gate_.inside.wait();
    } catch (const Error& error) {  // the calls before this one have not asked for room yet
      ASSERT_EQ(error.kind(), ErrorKind::overloaded) << error.what();
    }
  }
  expect_all(calls);
}

TEST_P(Bounds, WhoCallsWithoutWaitingForRepliesWaitsForRoom) {
  const Bytes bytes(8 * kMiB);
  constexpr int kCalls = 40;
  std::atomic<int> made = 0;
  std::vector<Future<int>> replies;
  {
    const Thread caller = spawn("caller", [&] {
      for (int number = 0; number < kCalls; ++number) {
        replies.push_back(client().async<&Service::take>(bytes, number));
        ++made;
      }
    });
    gate_.inside.wait();
    EXPECT_EQ(client().call<&Service::ping>(), 1);
    const int before = made.load();
    EXPECT_LE(static_cast<std::size_t>(before) * bytes.size(), kBound + kWindow + bytes.size());
    gate_.open.set();
  }
  for (int number = 0; number < kCalls; ++number) EXPECT_EQ(replies.at(static_cast<std::size_t>(number)).get(), number);
}

TEST_P(Bounds, AHandlerHearsThatThereIsNoRoom) {
  constexpr int kSize = 8 * kMiB;
  if (&run_.calling() != &run_.serving()) {
    run_.calling().start_one("relay", 1);
  } else {
    run_.calling().start_one("relay", 1, /*others=*/1);
  }
  const int calls = run_.client(relay_).call<&Relay::flood>(kSize);
  expect_bounded(calls, kSize, bounds());
  gate_.inside.wait();
  expect_all(calls + 1, [this] { return run_.client(relay_).call<&Relay::done>(); });
}

TEST_P(Bounds, StreamsCountAsWell) {
  const Bytes bytes(4 * kMiB);
  const Future<int> first = client().async<&Service::take>(Bytes(), 0);
  gate_.inside.wait();
  std::vector<StreamReader<int>> readers;
  const int calls = count_until(ErrorKind::overloaded, [&](int number) {
    readers.push_back(client().stream<&Service::listen>(bytes, number));
    if (readers.back().wait_for(Duration::zero())) readers.back().next();
  });
  expect_bounded(calls, bytes.size(), bounds());
  gate_.open.set();
  for (int number = 0; number < calls; ++number) EXPECT_EQ(readers.at(static_cast<std::size_t>(number)).next(), number);
}

TEST_P(Bounds, ACallThatIsLargerThanTheBoundPassesAlone) {
  gate_.open.set();
  EXPECT_EQ(client().async<&Service::take>(Bytes(2 * kBound), 1).get(), 1);
  EXPECT_EQ(client().call<&Service::take>(Bytes(2 * kBound), 2), 2);
}

class BoundsOfSharedMemory : public Bounds {};
INSTANTIATE_TEST_SUITE_P(Paths, BoundsOfSharedMemory, ::testing::Values(Reach::shm), reach_name);

// Else each of many callers would have two arrays where one is enough.
TEST_P(BoundsOfSharedMemory, WhoWaitedForRoomGoesOnWhenItsArrayIsGone) {
  constexpr int kCalls = 4;  // one runs, two wait at the service, one here
  gate_.holds_second = true;
  Event full;
  Event returned;
  const Thread caller = spawn("caller", [&] {
    for (int number = 0; number < kCalls; ++number) {
      Bytes bytes(kBound * 3 / 8);
      if (number == kCalls - 1) full.set();
      client().send<&Service::take>(std::move(bytes), number);
    }
    returned.set();
  });
  full.wait();
  const Bytes large(kBound);
  for (int i = 0; i < 10; ++i) {
    EXPECT_THROW(client().within(kSoon).send<&Service::take>(large, kCalls), Error) << "there is no room";
  }
  gate_.open.set();
  gate_.second.wait();  // there is room for the last one, which is sent
  EXPECT_FALSE(returned.wait(after(kSoon / 4))) << "its array is still read";
  gate_.go_on.set();
  EXPECT_TRUE(returned.wait(after(std::chrono::seconds(20))));
}

}  // namespace
}  // namespace lp
