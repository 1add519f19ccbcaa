// The messages between two connections when one side does not take its messages. The links between them are the test's.

#include "lp/rpc/core/connection.h"

#include <gtest/gtest.h>

#include <memory>
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
  using Remote = Methods<&Adder::add>;
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
  End() {
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

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() {
    core_.set_object(&adder_);
    serving_.process.peer(0).up_here(core_);
    calling_.process.peer(0).up_elsewhere(1, "");
    calling_.process.peer(0).connected(1, calling_.connection);
    calling_.connection->greet();
    exchange();
  }
  ~ConnectionTest() override { calling_.process.close(); }  // before the edge goes, as a runtime does: calls end
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

}  // namespace
}  // namespace lp
