// Streams in messages: the output equals the input, however slowly it is read, and malformed messages are refused. A
// peer that dials a AgentAcceptor without a key of the run gets nothing.

#include "launchers/remote/tunnel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "launchers/control/message_stream.h"
#include "launchers/remote/agent_acceptor.h"
#include "launchers/remote/agent_dialer.h"
#include "lp/base/error.h"
#include "tests/directory.h"
#include "tests/launchers/main_fixture.h"

namespace lp::test {
namespace {

using launch::Tunnel;

// Two ends of a tunnel whose messages wait until the test passes them on.
class TunnelTest : public testing::Test {
 protected:
  struct End {
    explicit End(std::deque<Buffer>& the_sent)
        : sent(the_sent),
          ends(launch::make_socket_pair()),
          stream(ends.ours),
          tunnel(Descriptor(ends.theirs), poller, 0, [this](Buffer message) { sent.push_back(std::move(message)); }) {}

    void handle() {
      std::array<Poller::Ready, 1> ready;
      while (poller.wait(ready, now()) > 0) {
        if (tunnel.handle(ready[0])) sent.push_back(launch::tunnel_message(Tunnel::Kind::over));
      }
    }
    // Writes as much as fits now.
    std::size_t write(std::string_view text) const {
      const ssize_t took = ::send(stream.number(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      return took < 0 ? 0 : static_cast<std::size_t>(took);
    }
    std::string read() const {
      std::string text(std::size_t{1} << 16, '\0');
      const ssize_t got = recv(stream.number(), text.data(), text.size(), MSG_DONTWAIT);
      text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
      return text;
    }

    std::deque<Buffer>& sent;
    Poller poller{};
    launch::SocketPair ends;
    Descriptor stream;
    Tunnel tunnel;
  };

  // Passes on the messages of both ends, until there are no more.
  void exchange() {
    do {
      pass(from_left_, right_.tunnel);
      pass(from_right_, left_.tunnel);
      left_.handle();
      right_.handle();
    } while (!from_left_.empty() || !from_right_.empty());
  }
  static void pass(std::deque<Buffer>& messages, Tunnel& to) {
    for (; !messages.empty(); messages.pop_front()) EXPECT_TRUE(to.take(messages.front().bytes()));
  }

  static Buffer bytes(std::size_t count) {
    const std::string text(count, 'x');
    return launch::tunnel_message(Tunnel::Kind::bytes, std::as_bytes(std::span(text)));
  }

  std::deque<Buffer> from_left_, from_right_;
  End left_{from_left_}, right_{from_right_};
};

TEST_F(TunnelTest, WhatGoesInComesOutAndTheEndFollowsIt) {
  const std::string text = "to and fro";
  ASSERT_EQ(left_.write(text), text.size());
  exchange();
  EXPECT_EQ(right_.read(), text);
  ASSERT_EQ(right_.write(text), text.size());
  right_.stream = Descriptor();
  exchange();
  EXPECT_EQ(left_.read(), text);
  EXPECT_EQ(left_.read(), "");  // the end
  EXPECT_TRUE(left_.tunnel.ended_there());
  EXPECT_TRUE(right_.tunnel.ended_here());
  EXPECT_FALSE(left_.tunnel.ended_here());
  left_.stream = Descriptor();
  exchange();
  EXPECT_TRUE(left_.tunnel.ended_here());
}

TEST_F(TunnelTest, AReaderThatIsSlowHoldsTheWriterAndLosesNothing) {
  std::string in, out;
  const auto fill = [&] {
    for (std::size_t took = 1; took > 0;) {
      exchange();
      const std::string chunk(10'000, static_cast<char>('a' + in.size() / 1000 % 26));
      took = left_.write(chunk);
      in += chunk.substr(0, took);
    }
  };
  fill();
  const std::size_t held = in.size();
  EXPECT_LT(held, std::size_t{4} << 20);
  for (int round = 0; round < 40; ++round) {
    out += right_.read();
    fill();
  }
  EXPECT_GT(in.size(), held);
  left_.stream = Descriptor();
  for (std::string part = right_.read(); !part.empty(); part = right_.read()) {
    out += part;
    exchange();
  }
  EXPECT_EQ(out.size(), in.size());
  EXPECT_TRUE(out == in);
}

TEST_F(TunnelTest, MoreThanThereIsRoomForAndWhatIsNoMessageIsRefused) {
  const auto refused = [&](Tunnel::Kind kind, std::string_view content) {
    return !left_.tunnel.take(launch::tunnel_message(kind, std::as_bytes(std::span(content))).bytes());
  };
  EXPECT_TRUE(refused(static_cast<Tunnel::Kind>(77), ""));
  EXPECT_TRUE(refused(Tunnel::Kind::room, "abc"));
  EXPECT_TRUE(refused(Tunnel::Kind::room, "abcd"));  // nothing was sent
  EXPECT_TRUE(refused(Tunnel::Kind::bytes, std::string((std::size_t{1} << 20) + 1, 'x')));
  EXPECT_FALSE(refused(Tunnel::Kind::lost, ""));
  EXPECT_TRUE(refused(Tunnel::Kind::bytes, "after the end"));
}

TEST(ReceptionTest, WhoHasNoKeyOfTheRunGetsNothingAndTheAgentGetsIn) {
  const CurveKeys ours = make_curve_keys(), agents = make_curve_keys(), strangers = make_curve_keys();
  Poller arrivals;
  std::atomic<int> count = 0;
  launch::AgentAcceptor reception({.address = "127.0.0.1", .keys = ours, .agents = {agents.public_key}},
                                  [&](std::size_t agent, Descriptor) {
                                    EXPECT_EQ(agent, 0u);
                                    ++count;
                                    arrivals.wake();
                                  });
  const auto greet = [&](rpc::Router& router) {
    router.connect("c", reception.endpoint(), ours.public_key);
    const Message hello{.body = launch::tunnel_message(Tunnel::Kind::hello)};
    router.send("c", std::span(&hello, 1), {});
  };
  rpc::Router stranger("", strangers);
  greet(stranger);
  rpc::Router agent("", agents);
  greet(agent);
  std::array<Poller::Ready, 1> ready;
  for (const Time end = after(std::chrono::seconds(20)); count == 0 && !passed(end);) arrivals.wait(ready, end);
  EXPECT_EQ(count, 1);
  rpc::Router::Arrival nothing;
  EXPECT_FALSE(stranger.receive(nothing));
}

// A pod that Kubernetes could not reach has been replaced, and comes back, or never was away.
TEST(ReceptionTest, OfTwoWithTheKeyOfAnAgentTheFirstStaysUntilItIsLost) {
  const CurveKeys ours = make_curve_keys(), agents = make_curve_keys();
  Poller arrivals;
  std::array<Descriptor, 2> streams;
  std::atomic<std::size_t> count = 0;
  launch::AgentAcceptor reception({.address = "127.0.0.1", .keys = ours, .agents = {agents.public_key}},
                                  [&](std::size_t, Descriptor stream) {
                                    streams.at(count) = std::move(stream);
                                    ++count;
                                    arrivals.wake();
                                  });
  const auto send = [&](rpc::Router& router, Tunnel::Kind kind) {
    const Message message{.body = launch::tunnel_message(kind)};
    router.send("c", std::span(&message, 1), {});
  };
  const Time end = after(std::chrono::seconds(20));
  std::array<Poller::Ready, 1> ready;
  rpc::Router first("", agents), second("", agents);
  for (rpc::Router* const router : {&first, &second}) {
    router->connect("c", reception.endpoint(), ours.public_key);
    send(*router, Tunnel::Kind::hello);
    while (count == 0 && !passed(end)) arrivals.wait(ready, end);
  }
  send(second, Tunnel::Kind::bytes);  // a rejected peer gets an answer
  Poller answers;
  answers.add(second.descriptor(), 0);
  rpc::Router::Arrival arrival;
  while (!second.receive(arrival) && !passed(end)) answers.wait(ready, end);
  EXPECT_TRUE(
      launch::for_each_message(arrival, [](auto message) { EXPECT_EQ(launch::kind_of(message), Tunnel::Kind::lost); }));
  EXPECT_EQ(count, 1u);
  streams[0] = Descriptor();
  while (count < 2 && !passed(end)) {
    send(second, Tunnel::Kind::hello);
    arrivals.wait(ready, after(std::chrono::milliseconds(20)));
  }
  EXPECT_EQ(count, 2u);
}

TEST(ReceptionKeysTest, AreReadAsTheyWereWrittenAndWhatIsNoneIsNotShown) {
  const Directory directory;
  const std::string path = (directory.path() / "keys").string();
  const launch::AcceptorKeys keys{.own = make_curve_keys(), .others = {make_curve_keys().public_key}};
  std::ofstream(path) << launch::to_text(keys);
  const launch::AcceptorKeys read = launch::read_keys(path);
  EXPECT_EQ(read.own.public_key, keys.own.public_key);
  EXPECT_EQ(read.own.secret_key, keys.own.secret_key);
  EXPECT_EQ(read.others, keys.others);
  const auto error_of = [&](const std::string& text) {
    std::ofstream(path) << text;
    try {
      launch::read_keys(path);
    } catch (const Error& error) {
      return std::string(error.text());
    }
    return std::string();
  };
  EXPECT_TRUE(has(error_of("almost a secret"), "it has something that is not a key"));
  EXPECT_FALSE(has(error_of("almost a secret"), "almost"));
  EXPECT_TRUE(has(error_of(keys.own.public_key), "it has 1 keys"));
  std::filesystem::remove(path);
  EXPECT_THROW(launch::read_keys(path), Error);
}

TEST(ReceptionKeysTest, OfManyHostsEachTakesItsOwnAndReadsToTheEnd) {
  std::string text;
  std::vector<CurveKeys> keys;
  for (const std::string host : {"n1", "n11", "n2"}) {
    keys.push_back(make_curve_keys());
    text += launch::to_text(launch::HostKeys{
        .host = host, .name = host + "+1", .keys = {.own = keys.back(), .others = {keys.front().public_key}}});
  }
  std::istringstream lines(text + "\nthe program");
  const launch::HostKeys own = launch::read_keys_of("n11", lines);
  EXPECT_EQ(own.name, "n11+1");
  EXPECT_EQ(own.keys.own.secret_key, keys[1].secret_key);
  EXPECT_EQ(own.keys.others, std::vector{keys[0].public_key});
  std::string rest;
  std::getline(lines, rest);
  EXPECT_EQ(rest, "the program");
  for (const std::string& none : {text + "\n", std::string("n3 n3 almost a secret\n\n"), std::string("n3")}) {
    std::istringstream others(none);
    try {
      launch::read_keys_of("n3", others);
      ADD_FAILURE() << none;
    } catch (const Error& error) {
      EXPECT_FALSE(has(error.text(), "almost")) << error.text();
    }
  }
}

}  // namespace
}  // namespace lp::test
