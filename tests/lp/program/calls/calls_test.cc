// Calls between the nodes of a program: the same scenarios directly, queued, and through bytes.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/lp.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

struct Item {
  std::string text = "";
  std::vector<double> values{};
};

// One method of every kind.
class Server {
 public:
  int add(int a, int b) { return a + b; }
  void push(Item item) { items_.push_back(std::move(item)); }
  Item at(std::size_t i) const { return items_.at(i); }
  int calls() { return ++calls_; }
  Future<int> arrive() {
    waiting_.emplace_back();
    Future<int> future = waiting_.back().future();
    if (waiting_.size() == 3) {
      for (Promise<int>& one : waiting_) one.set_value(static_cast<int>(waiting_.size()));
      waiting_.clear();
    }
    return future;
  }
  Future<int> coroutine(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      Future<int> one = ready(i);
      sum += co_await one;
    }
    co_return sum;
  }
  Future<int> nothing() { return {}; }
  Stream<int> count(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
  }
  Stream<int> breaks(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
    throw std::out_of_range("no more rows");
  }
  std::vector<int> squares(std::vector<int> items) {
    ++batches_;
    for (int& item : items) item *= item;
    return items;
  }
  int batches() const { return batches_; }
  std::vector<int> counted(std::vector<int> items) {
    for (int& item : items) item = ++calls_;
    return items;
  }
  int parallel(int x) { return x; }

  using Remote =
      Methods<&Server::add, once<&Server::push>, &Server::at, once<&Server::calls>, &Server::arrive, &Server::coroutine,
              &Server::nothing, &Server::count, &Server::breaks, batched<&Server::squares, 4, 200_ms>, &Server::batches,
              once<batched<&Server::counted, 1, 0_us>>, concurrent<&Server::parallel, 2>>;

 private:
  std::vector<Item> items_;
  std::vector<Promise<int>> waiting_;
  int calls_ = 0;
  int batches_ = 0;
};

// The parameter: whether calls go directly or through bytes.
class Calls : public ::testing::TestWithParam<bool> {
 protected:
  Runtime::Options options() const {
    Runtime::Options options;
    options.run.serialize = GetParam();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Paths, Calls, ::testing::Values(false, true),
                         [](const auto& path) { return path.param ? "Bytes" : "Direct"; });

TEST_P(Calls, ReturnValuesAndTakeConvertedArguments) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  const auto client = run.client(server);
  EXPECT_EQ(client.call<&Server::add>(2, 3L), 5);
  client.call<&Server::push>(Item{.text = "a", .values = {1, 2}});
  const Item item = client.call<&Server::at>(0u);
  EXPECT_EQ(item.text, "a");
  EXPECT_EQ(item.values, (std::vector<double>{1, 2}));
  auto future = client.async<&Server::add>(4, 5);
  EXPECT_EQ(future.get(), 9);
  EXPECT_EQ(client.call<&Server::parallel>(7), 7);
}

TEST_P(Calls, SendIsOneWayAndInOrder) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  const auto client = run.client(server);
  for (int i = 0; i < 100; ++i) client.send<&Server::push>(Item{.text = std::to_string(i)});
  EXPECT_EQ(client.call<&Server::at>(99u).text, "99");
}

TEST_P(Calls, ExceptionsArriveWithTheirTypeAndPlace) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  try {
    run.client(server).call<&Server::at>(10u);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_EQ(error.node(), "server");
    EXPECT_EQ(error.method(), "at");
    EXPECT_EQ(error.origin().type, "std::out_of_range");
  }
}

TEST_P(Calls, AreCountedByEdgeAndMethod) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  const auto client = run.client(server);
  std::vector<Future<int>> futures;
  for (int i = 0; i < 40; ++i) futures.push_back(client.async<&Server::add>(i, 1));
  when_all(std::move(futures)).get();
  for (int i = 0; i < 40; ++i) client.call<&Server::add>(i, 1);
  EXPECT_THROW(client.call<&Server::at>(10u), Error);
  ASSERT_EQ(run.runtime().calls().size(), 2u);
  for (const CallStatistics& one : run.runtime().calls()) {
    const bool add = one.method == "add";
    EXPECT_EQ(one.callee, "server");
    EXPECT_EQ(one.calls, add ? 80u : 1u);
    EXPECT_EQ(one.ended, one.calls);
    EXPECT_EQ(one.errors, add ? 0u : 1u);
    if (add) {
      EXPECT_GT(one.latency.quantile(0.5), Duration::zero());
    }
  }
}

TEST_P(Calls, AHandlerThatReturnsAFutureHoldsNoTurn) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  const auto client = run.client(server);
  auto first = client.async<&Server::arrive>();
  auto second = client.async<&Server::arrive>();
  EXPECT_EQ(client.call<&Server::add>(1, 1), 2);
  EXPECT_EQ(client.call<&Server::arrive>(), 3);
  EXPECT_EQ(first.get(), 3);
  EXPECT_EQ(second.get(), 3);
  EXPECT_EQ(client.call<&Server::coroutine>(5), 10);
}

TEST_P(Calls, ACallThatNobodyAnswersEndsAtItsDeadline) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  const auto client = run.client(server).within(std::chrono::milliseconds(20));
  try {
    client.call<&Server::arrive>();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::deadline);
    EXPECT_EQ(error.node(), "server");
    EXPECT_TRUE(error.may_have_run());
    EXPECT_EQ(error.text(), "no reply in time: the call was allowed 20 ms");
  }
  // The same without a thread that waits.
  auto late = client.async<&Server::arrive>().then([](Future<int> future) {
    try {
      future.get();
      return std::string("answered");
    } catch (const Error& error) {
      return std::string(to_string(error.kind()));
    }
  });
  EXPECT_EQ(late.get(), "deadline");
}

TEST_P(Calls, ACallThatIsMadeWithoutTimeDoesNotRun) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  const auto client = run.client(server);
  for (const Duration time : {Duration::zero(), Duration(-std::chrono::seconds(5))}) {
    const auto late = client.within(time);
    for (const bool waits : {true, false}) {
      try {
        if (waits) {
          late.call<&Server::calls>();
        } else {
          late.async<&Server::calls>().get();
        }
        ADD_FAILURE();
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::deadline);
        EXPECT_FALSE(error.may_have_run());
        EXPECT_EQ(error.text(), "the call was made after its deadline");
      }
    }
  }
  EXPECT_EQ(client.call<&Server::calls>(), 1);
}

TEST_P(Calls, AHandlerThatReturnsNoFutureAndAClientThatIsNotThereAreErrors) {
  Program program("calls");
  const auto servers = program.group<Server>({.name = "server", .replicas = 2});
  LocalRun run(program, options());
  const auto clients = run.client(servers);
  const auto error_of = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of([&] { clients[1].call<&Server::nothing>(); }),
            "server/1.nothing: the handler returned an lp::Future that is not valid: return that of a Promise or of a "
            "call, or lp::ready(value)");
  EXPECT_EQ(error_of([&] { clients[2].call<&Server::nothing>(); }),
            "there is no client at position 2 of 2: positions count from 0");
}

TEST_P(Calls, StreamsYieldInOrderWithBackPressure) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  const auto client = run.client(server);
  int expected = 0;
  for (const int item : client.stream<&Server::count>(1000)) ASSERT_EQ(item, expected++);
  EXPECT_EQ(expected, 1000);
  {
    auto reader = client.stream<&Server::count>(1'000'000'000);
    EXPECT_EQ(reader.next(), 0);
  }
  EXPECT_EQ(client.call<&Server::add>(1, 2), 3);
  auto breaks = client.stream<&Server::breaks>(3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(breaks.next(), i);
  EXPECT_THROW(breaks.next(), Error);
}

TEST_P(Calls, BatchesGatherTheItemsOfManyCallers) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  const auto client = run.client(server);
  std::vector<Future<int>> futures;
  for (int i = 0; i < 8; ++i) futures.push_back(client.async<&Server::squares>(i));
  const std::vector<int> squares = when_all(std::move(futures)).get();
  EXPECT_EQ(squares, (std::vector<int>{0, 1, 4, 9, 16, 25, 36, 49}));
  EXPECT_EQ(client.call<&Server::batches>(), 2);
  EXPECT_EQ(client.call<&Server::squares>(9), 81);  // alone, after the wait
}

TEST_P(Calls, AOnceCallUnderAGivenNumberRunsOnce) {
  Program program("calls");
  const auto server = program.add<Server>({.name = "server"});
  LocalRun run(program, options());
  const auto client = run.client(server);
  EXPECT_EQ(client.call<&Server::calls>(), 1);
  EXPECT_EQ(client.call<&Server::calls>(), 2);
  EXPECT_EQ(client.numbered(7).call<&Server::calls>(), 3);
  EXPECT_EQ(client.numbered(7).call<&Server::calls>(), 3);
  EXPECT_EQ(client.numbered(8).call<&Server::calls>(), 4);
  EXPECT_EQ(client.numbered(9).call<&Server::counted>(0), 5);
  EXPECT_EQ(client.numbered(9).call<&Server::counted>(0), 5);
  EXPECT_EQ(client.numbered(10).call<&Server::counted>(0), 6);
}

// A and B call each other.
class Ping {
 public:
  explicit Ping(Client<Ping> other) : other_(std::move(other)) {}
  int bounce(int left) { return left == 0 ? 0 : 1 + other_.call<&Ping::bounce>(left - 1); }
  Future<int> soft(int left) {
    if (left == 0) co_return 0;
    Future<int> rest = other_.async<&Ping::soft>(left - 1);
    co_return 1 + co_await rest;
  }
  using Remote = Methods<&Ping::bounce, &Ping::soft>;

 private:
  Client<Ping> other_;
};

TEST_P(Calls, AChainThatComesBackToABusyServiceIsRefusedWithTheChain) {
  Program program("cycle");
  const auto a = program.declare<Ping>({.name = "a"});
  const auto b = program.add<Ping>({.name = "b"}, a);
  program.define(a, b);
  LocalRun run(program, options());
  const auto client = run.client(a);
  EXPECT_EQ(client.call<&Ping::bounce>(1), 1);
  try {
    client.call<&Ping::bounce>(2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_EQ(error.node(), "a");
    EXPECT_EQ(error.path(), (std::vector<std::string>{"a", "b"})) << error.what();
  }
  EXPECT_EQ(client.call<&Ping::soft>(6), 6);
}

}  // namespace
}  // namespace lp
