// The messages between two connections when one side does not take its messages. The links between them are the test's.

#include "lp/rpc/core/connection.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "lp/lp.h"
#include "lp/program/node_type.h"
#include "lp/rpc/core/local_process.h"

namespace lp {
namespace {

using rpc::Connection;
using rpc::LocalProcess;

class Adder {
 public:
  int add(int a, int b) {
    ++calls;
    return a + b;
  }
  int twice(int a) {
    ++calls;
    return 2 * a;
  }
  using Remote = Methods<&Adder::add, idempotent<&Adder::twice>>;
  int calls = 0;
};

class HeldLink final : public rpc::Link {
 public:
  void send(Message message) override { sent.push_back(std::move(message)); }
  Queued queued() const override { return waiting; }
  bool full() const noexcept override { return waiting.bytes > kFull; }
  std::vector<Message> sent;
  Queued waiting;
};

// One side, with its link.
struct End {
  End() { renew(); }
  void renew() {
    auto made = std::make_unique<HeldLink>();
    link = made.get();
    connection = std::make_shared<Connection>(process, std::move(made));
  }
  // Gives it what the other side has sent.
  void take(End& from) {
    for (Message& message : std::exchange(from.link->sent, {})) connection->on_message(std::move(message)).run();
  }
  LocalProcess process{{.run = {.name = "test", .token = "secret", .serialize = true}, .nodes = {"adder"}}};
  HeldLink* link = nullptr;
  std::shared_ptr<Connection> connection;
};

// The error of a call that has ended.
Error error_of(Future<int>& call) {
  EXPECT_TRUE(call.ready());
  try {
    call.get();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::failed, "no error");
}

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() {
    core_.set_object(&adder_);
    serving_.process.peer(0).up_here(core_);
    calling_.process.peer(0).up_elsewhere(1, "");
    connect();
  }
  ~ConnectionTest() override { calling_.process.close(); }  // before the edge goes, as a runtime does: calls end
  void connect() {
    calling_.process.peer(0).connected(1, calling_.connection);
    calling_.connection->greet();
    exchange();
  }
  // The connection breaks, and what is on its way is lost. Then there is another one.
  void break_and_connect() {
    calling_.connection->sever();
    serving_.connection->close();
    serving_.renew();
    calling_.renew();
    calling_.process.peer(0).connected(1, calling_.connection);
    calling_.connection->greet();
    const auto hello = std::exchange(calling_.link->sent, {});
    for (const Message& message : hello) serving_.connection->on_message(message).run();
    calling_.take(serving_);  // its welcome: from now on the calls are on their way
  }
  void exchange() {
    serving_.take(calling_);
    calling_.take(serving_);
  }
  Adder adder_;
  End serving_;
  End calling_;
  const std::vector<rpc::Method> methods_ =
      internal::methods_of(internal::EntriesOf<Adder, RemoteOf<Adder>::type>::kAll);
  rpc::ServiceInstance core_{serving_.process, 0, 1, methods_};
  Edge edge_{calling_.process, nullptr, 0};
  const Client<Adder> client_{edge_};
};

TEST_F(ConnectionTest, CallsAndRepliesAreTaken) {
  Future<int> sum = client_.async<&Adder::add>(1, 2);
  exchange();
  EXPECT_EQ(sum.get(), 3);
}

TEST_F(ConnectionTest, WhatIsSentOneWayToWhoDoesNotTakeItIsBounded) {
  for (const rpc::Link::Queued waiting : {rpc::Link::Queued{.messages = Connection::kCallLimit, .bytes = 0},
                                          {.messages = 1, .bytes = Connection::kByteLimit}}) {
    calling_.link->waiting = waiting;
    try {
      client_.send<&Adder::add>(1, 2);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::overloaded);
    }
  }
  calling_.link->waiting = {};
  client_.send<&Adder::add>(1, 2);
  exchange();
  EXPECT_EQ(adder_.calls, 1);
}

TEST_F(ConnectionTest, ACallIsHeldWhileItsCallerDoesNotTakeTheReplies) {
  const Future<int> sum = client_.async<&Adder::add>(1, 2);
  serving_.link->waiting = {.messages = 10, .bytes = HeldLink::kFull + 1};
  exchange();
  EXPECT_EQ(adder_.calls, 0);
  serving_.link->waiting = {};
  serving_.connection->drained();
  EXPECT_TRUE(core_.turn().wait_idle(after(std::chrono::seconds(20))));
  EXPECT_EQ(adder_.calls, 1);
}

TEST_F(ConnectionTest, ACallIsTriedAgainOverTheNextConnection) {
  Future<int> doubled = client_.async<&Adder::twice>(4);
  break_and_connect();
  exchange();
  EXPECT_EQ(doubled.get(), 8);
  EXPECT_EQ(adder_.calls, 1);
}

// The call itself may break them: one side may have no memory for its bytes, which the link does not report.
TEST_F(ConnectionTest, ACallUnderWhichConnectionsBreakIsGivenUp) {
  Future<int> doubled = client_.async<&Adder::twice>(4);
  break_and_connect();
  break_and_connect();
  EXPECT_FALSE(doubled.ready());
  break_and_connect();
  const Error error = error_of(doubled);
  EXPECT_EQ(error.kind(), ErrorKind::disconnected);
  EXPECT_TRUE(error.may_have_run());
  EXPECT_NE(error.text().find("no memory for a message"), std::string::npos) << error.text();
}

TEST_F(ConnectionTest, ACallThatMayNotRunTwiceEndsWithItsConnection) {
  Future<int> sum = client_.async<&Adder::add>(1, 2);
  break_and_connect();
  const Error error = error_of(sum);
  EXPECT_EQ(error.kind(), ErrorKind::disconnected);
  EXPECT_TRUE(error.may_have_run());
  EXPECT_NE(error.text().find("the connection to the node broke"), std::string::npos) << error.text();
}

// The message may have been the reply of any call.
TEST_F(ConnectionTest, CallsFailWhenThereIsNoMemoryForAMessage) {
  Future<int> doubled = client_.async<&Adder::twice>(4);
  calling_.connection->refuse(std::bad_alloc());
  const Error error = error_of(doubled);
  EXPECT_EQ(error.kind(), ErrorKind::failed);
  EXPECT_TRUE(error.may_have_run());
  EXPECT_NE(error.text().find("no memory for a message that came"), std::string::npos) << error.text();
}

}  // namespace
}  // namespace lp
