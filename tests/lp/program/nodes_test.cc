// Declarations of a program, and what its nodes then get and may ask for.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lp/lp.h"
#include "lp/rpc/node_thread.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

// Records what the nodes of a test wrote; it is a service like any other.
class Board {
 public:
  void write(std::string line) { lines_.push_back(std::move(line)); }
  std::vector<std::string> lines() const { return lines_; }
  using Remote = Methods<&Board::write, &Board::lines>;

 private:
  std::vector<std::string> lines_;
};

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

class StandingWorker {
 public:
  StandingWorker(Client<Board> board, int index, int replicas, int square, std::uint64_t seed)
      : board_(board),
        text_(std::to_string(index) + "/" + std::to_string(replicas) + " " + std::to_string(square)),
        seed_(seed) {}
  void run(Context& context) {
    board_.call<&Board::write>(context.name() + " " + text_ + (seed_ == context.seed() ? " seeded" : ""));
  }

 private:
  Client<Board> board_;
  std::string text_;
  std::uint64_t seed_;
};

TEST(Nodes, ReplicasGetTheirDeferredArguments) {
  Program program("deferred");
  const auto board = program.add<Board>({.name = "board"});
  program.group<StandingWorker>({.name = "worker", .replicas = 3}, board, index, replicas,
                                per_replica([](int i) { return i * i; }), seed);
  LocalRun run(program);
  run.wait_finished();
  EXPECT_EQ(sorted(run.client(board).call<&Board::lines>()),
            (std::vector<std::string>{"worker/0 0/3 0 seeded", "worker/1 1/3 1 seeded", "worker/2 2/3 4 seeded"}));
}

TEST(Nodes, FunctionsRunOnceWithTheirClients) {
  Program program("functions");
  const auto board = program.add<Board>({.name = "board"});
  program.function(
      {.name = "plain"}, [](Client<Board> out) { out.call<&Board::write>("plain"); }, board);
  program.function(
      {.name = "many", .replicas = 2},
      [](Context& context, Client<Board> out) { out.call<&Board::write>(context.name()); }, board);
  LocalRun run(program);
  run.wait_finished();
  EXPECT_EQ(sorted(run.client(board).call<&Board::lines>()), (std::vector<std::string>{"many/0", "many/1", "plain"}));
}

class Silent {
 public:
  explicit Silent(Client<Board> board) : board_(board) {}
  void run(Context& context) { board_.call<&Board::write>(context.name()); }
  using Remote = Methods<>;
  static_assert(!Remote::contains<&Board::write>);

 private:
  Client<Board> board_;
};

TEST(Nodes, OneMayServeNothing) {
  Program program("silent");
  const auto board = program.add<Board>({.name = "board"});
  program.add<Silent>({.name = "silent"}, board);
  LocalRun run(program);
  run.wait_finished();
  EXPECT_EQ(run.client(board).call<&Board::lines>(), std::vector<std::string>{"silent"});
}

class NodeAdder {
 public:
  virtual ~NodeAdder() = default;
  virtual int add(int x) = 0;
  using Remote = Methods<&NodeAdder::add>;
};
class AddTen : public NodeAdder {
 public:
  explicit AddTen(int more) : more_(more) {}
  int add(int x) override { return x + 10 + more_; }

 private:
  int more_;
};
class Sum {
 public:
  Sum(Clients<NodeAdder> group, std::vector<Client<NodeAdder>> list)
      : group_(std::move(group)), list_(std::move(list)) {}
  int sum(int x) const {
    int total = 0;
    for (const int one : group_.all<&NodeAdder::add>(x)) total += one;
    for (const Client<NodeAdder>& one : list_) total += one.call<&NodeAdder::add>(x);
    return total;
  }
  using Remote = Methods<&Sum::sum>;

 private:
  Clients<NodeAdder> group_;
  std::vector<Client<NodeAdder>> list_;
};

TEST(Nodes, AHandleToAServiceIsAHandleToItsInterface) {
  Program program("interfaces");
  const GroupHandle<AddTen> tens = program.group<AddTen>({.name = "ten", .replicas = 3}, index);
  const std::vector<Handle<NodeAdder>> list{tens[0], tens[2]};
  const auto sum = program.add<Sum>({.name = "sum"}, GroupHandle<NodeAdder>(tens), list);
  for (const bool bytes : {false, true}) {
    LocalRun run(program, {.run = {.serialize = bytes}});
    EXPECT_EQ(run.client(sum).call<&Sum::sum>(1), (11 + 12 + 13) + (11 + 13));
  }
}

class Flaky {
 public:
  explicit Flaky(int index) : index_(index) {}
  int value(int bad) const {
    if (index_ == bad || bad < 0) throw std::runtime_error("replica " + std::to_string(index_) + " is bad");
    return index_;
  }
  Future<void> late(int first) {
    if (index_ >= first) return ready();
    waiting_.emplace_back();
    return waiting_.back().future();
  }
  using Remote = Methods<&Flaky::value, &Flaky::late>;

 private:
  int index_;
  std::vector<Promise<void>> waiting_;
};

// A user of a group of four.
class NodeCaller {
 public:
  explicit NodeCaller(Clients<Flaky> all) : all_(std::move(all)) {}
  std::vector<int> values(int bad) const { return all_.all<&Flaky::value>(bad); }
  std::string outcomes(int bad) const {
    std::string text;
    for (const Outcome<int>& one : all_.outcomes<&Flaky::value>(bad)) {
      text += one ? std::to_string(one.value()) : one.error().text();
      text += ";";
    }
    return text;
  }
  int any(int bad) const { return all_.any<&Flaky::value>(bad); }
  int first_done(int first) const {
    for (auto& [replica, outcome] : all_.each<&Flaky::late>(first)) return static_cast<int>(replica);
    return -1;
  }
  int by_key(std::uint64_t key) const { return all_.by_key(key).call<&Flaky::value>(99); }
  using Remote = Methods<&NodeCaller::values, &NodeCaller::outcomes, &NodeCaller::any, &NodeCaller::first_done,
                         &NodeCaller::by_key>;

 private:
  Clients<Flaky> all_;
};

TEST(Nodes, GroupCalls) {
  Program program("groups");
  const auto flaky = program.group<Flaky>({.name = "flaky", .replicas = 4}, index);
  const auto caller = program.add<NodeCaller>({.name = "caller"}, flaky);
  LocalRun run(program);
  const auto client = run.client(caller);
  EXPECT_EQ(client.call<&NodeCaller::values>(9), (std::vector<int>{0, 1, 2, 3}));
  try {
    client.call<&NodeCaller::values>(2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.node(), "flaky/2");
  }
  EXPECT_EQ(client.call<&NodeCaller::outcomes>(1), "0;replica 1 is bad;2;3;");
  EXPECT_NE(client.call<&NodeCaller::any>(0), 0);
  EXPECT_THROW(client.call<&NodeCaller::any>(-1), Error);
  EXPECT_EQ(client.call<&NodeCaller::first_done>(3), 3);
  for (std::uint64_t key = 0; key < 20; ++key)
    EXPECT_EQ(client.call<&NodeCaller::by_key>(key), static_cast<int>(mix64(key) % 4));
}

// Blocks in different ways until it is stopped.
class Blocker {
 public:
  explicit Blocker(Client<Flaky> flaky) : flaky_(flaky) {}
  void run(Context& context) {
    EXPECT_FALSE(context.wait_for(std::chrono::hours(1)));
    EXPECT_TRUE(context.stopping());
    flaky_.call<&Flaky::late>(9);  // it does not even begin
    FAIL() << "a stopped node called";
  }

 private:
  Client<Flaky> flaky_;
};
class CallBlocker {
 public:
  explicit CallBlocker(Client<Flaky> flaky) : flaky_(flaky) {}
  void run() { flaky_.within(std::chrono::hours(1)).call<&Flaky::late>(9); }

 private:
  Client<Flaky> flaky_;
};

class ThreadBlocker {
 public:
  explicit ThreadBlocker(Client<Flaky> flaky) : flaky_(flaky) {}
  void run() {
    ErrorKind kind = ErrorKind::failed;
    spawn_in_node("further", [&] {
      try {
        flaky_.within(std::chrono::hours(1)).call<&Flaky::late>(9);
      } catch (const Error& error) {
        kind = error.kind();
      }
    }).join();
    EXPECT_EQ(kind, ErrorKind::stopped);
  }

 private:
  Client<Flaky> flaky_;
};

TEST(Nodes, AStopEndsEveryWait) {
  Program program("stop");
  const auto flaky = program.group<Flaky>({.name = "flaky", .replicas = 1}, index);
  program.add<Blocker>({.name = "waits"}, flaky[0]);
  program.add<CallBlocker>({.name = "calls"}, flaky[0]);
  program.add<ThreadBlocker>({.name = "thread"}, flaky[0]);
  LocalRun run(program);
  for (const char* node : {"waits", "calls", "thread"}) run.runtime().stop(run.id(node), "enough");
  run.wait_finished();
  EXPECT_TRUE(run.failed().empty());
}

class Counter {
 public:
  explicit Counter(Context& context) : context_(context) {}
  void run() {
    for (int i = 0; i < 1000; ++i) context_.exclusive([this] { ++count_; });
    context_.stop_program("counted to " + std::to_string(context_.exclusive([this] { return count_; })));
  }
  int add() { return ++count_; }
  using Remote = Methods<&Counter::add>;

 private:
  Context& context_;
  int count_ = 0;  // handlers and run() share it, without a lock
};

TEST(Nodes, ExclusiveTakesTheServicesTurn) {
  Program program("exclusive");
  const auto counter = program.add<Counter>({.name = "counter"}, context);
  LocalRun run(program);
  const auto client = run.client(counter);
  std::vector<Future<int>> adds;
  for (int i = 0; i < 1000; ++i) adds.push_back(client.async<&Counter::add>());
  when_all(std::move(adds)).get();
  run.wait_finished();
  EXPECT_EQ(client.call<&Counter::add>(), 2001);
  EXPECT_NE(run.stop_reason().find("counted to "), std::string::npos);
}

// A chain of services, each of which waits for the next; the last never answers.
class Chain {
 public:
  explicit Chain(std::vector<Client<Chain>> next) : next_(std::move(next)) {}
  int depth() { return next_.empty() ? 0 : 1 + next_[0].call<&Chain::depth>(); }
  Future<int> hang() {
    if (!next_.empty()) return next_[0].async<&Chain::hang>();
    waiting_.emplace_back();
    return waiting_.back().future();
  }
  int wait_hang() { return next_[0].call<&Chain::hang>(); }
  using Remote = Methods<&Chain::depth, &Chain::hang, &Chain::wait_hang>;

 private:
  std::vector<Client<Chain>> next_;
  std::vector<Promise<int>> waiting_;
};

TEST(Nodes, WhatIsLeftOfADeadlineTravels) {
  Program program("chain");
  std::vector<Handle<Chain>> next;
  for (int i = 0; i < 6; ++i) next = {program.add<Chain>({.name = "link" + std::to_string(i)}, next)};
  for (const bool bytes : {false, true}) {
    LocalRun run(program, {.run = {.serialize = bytes}});
    const auto client = run.client(next[0]);
    EXPECT_EQ(client.call<&Chain::depth>(), 5);
    // Without the caller's 50 ms the inner calls would have the run's minute, and this test its timeout.
    EXPECT_THROW(client.within(std::chrono::milliseconds(50)).call<&Chain::wait_hang>(), Error);
    EXPECT_EQ(client.call<&Chain::depth>(), 5);
  }
}

// The supervisor learns which incarnations a node has finished with.
TEST(Nodes, AFinishedNodeTellsWhichIncarnationHasAnsweredItLast) {
  for (const bool bytes : {false, true}) {
    for (const bool waits : {false, true}) {
      Program program("answers");
      const auto board = program.add<Board>({.name = "board"});
      const auto unused = program.add<Board>({.name = "unused"});
      Event written;
      Event go;
      const auto write = [&written, &go, waits](Client<Board> to, Client<Board>) {
        if (waits) {
          to.call<&Board::write>("before");
        } else {
          to.async<&Board::write>("before").get();
        }
        written.set();
        go.wait();
      };
      program.function({.name = "writer"}, write, board, unused);
      LocalRun run(program, {.run = {.serialize = bytes}});
      ASSERT_TRUE(written.wait(after(std::chrono::seconds(20))));
      run.restart({"board"});
      go.set();
      run.wait_finished();
      const std::vector<NodeEvent::Answer> answers = run.answers("writer");
      ASSERT_EQ(answers.size(), 1U);
      EXPECT_EQ(answers[0].callee, run.id("board"));
      EXPECT_EQ(answers[0].incarnation, 1U);
    }
  }
}

TEST(Nodes, AConstructorThatThrowsIsAFailureOfItsNode) {
  class Broken {
   public:
    Broken() { throw std::invalid_argument("no such device"); }
  };
  Program program("broken");
  program.add<Broken>({.name = "broken"});
  struct Failures : Runtime::Observer {
    void on_event(NodeEvent event) override {
      if (const auto* failed = std::get_if<NodeEvent::Failed>(&event.what)) error = failed->error.what();
      happened.set();
    }
    std::string error;
    Event happened;
  } failures;
  Runtime runtime(program, {}, failures);
  runtime.start(0, 1);
  ASSERT_TRUE(failures.happened.wait(after(std::chrono::seconds(20))));
  EXPECT_EQ(failures.error, "std::invalid_argument: no such device");
}

TEST(Nodes, NamesAreUsedOnce) {
  Program program("names");
  program.add<Board>({.name = "board"});
  EXPECT_THROW(program.add<Board>({.name = "board"}), Error);
  EXPECT_THROW(program.group<Board>({.name = "board", .replicas = 2}), Error);
}

TEST(Nodes, ColocatedNodesShareAProcess) {
  Program program("colocation");
  const auto board = program.add<Board>({.name = "board"});
  const auto flaky = program.group<Flaky>({.name = "flaky", .replicas = 3}, index);
  const auto other = program.add<Board>({.name = "other"});
  program.colocate(flaky[1], other);
  program.colocate(board, flaky[1]);
  EXPECT_EQ(program.nodes()[0].process, program.nodes()[2].process);
  EXPECT_EQ(program.nodes()[0].process, program.nodes()[4].process);
  EXPECT_NE(program.nodes()[0].process, program.nodes()[1].process);
}

TEST(Nodes, TheFingerprintTellsGraphsAndTypesApart) {
  const auto make = [](int size) {
    Program program("same");
    program.group<Flaky>({.name = "flaky", .replicas = size}, index);
    return program.fingerprint();
  };
  EXPECT_EQ(make(2), make(2));
  EXPECT_NE(make(2), make(3));
}

TEST(Nodes, AFunctionMayTakeItsContextAsAnArgument) {
  Program program("function");
  const auto board = program.add<Board>({.name = "board"});
  program.function(
      {.name = "writer"}, [](Client<Board> out, Context& own) { out.call<&Board::write>(own.name()); }, board,
      lp::context);
  LocalRun run(program);
  run.wait_finished();
  EXPECT_EQ(run.client(board).call<&Board::lines>(), (std::vector<std::string>{"writer"}));
}

TEST(Nodes, ANumberWithAFractionIsNoInteger) {
  static_assert(Accepts<Flaky, &Flaky::value, long>);
  static_assert(!Accepts<Flaky, &Flaky::value, double>);
}

}  // namespace
}  // namespace lp
