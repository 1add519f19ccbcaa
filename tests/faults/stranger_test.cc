// A stranger that connects to a node's port can neither harm it nor keep it from its work, whether the run has keys or,
// on loopback, only a secret.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "tests/faults/stranger_for_test.h"

namespace lp::test {
namespace {

using std::chrono::seconds;

// With and without keys.
class Strangers : public StrangerFixture, public testing::WithParamInterface<bool> {
 protected:
  Strangers() : StrangerFixture(GetParam()) {}
  // The credentials of a peer that may connect, though it may be no honest process.
  Papers papers() const { return {.keys = friend_keys_, .server_key = server_keys_.public_key}; }
};

INSTANTIATE_TEST_SUITE_P(, Strangers, testing::Bool(),
                         [](const auto& keys) { return keys.param ? "WithKeys" : "WithASecret"; });

class StrangersToASecret : public StrangerFixture {
 protected:
  StrangersToASecret() : StrangerFixture(false) {}
};

TEST_P(Strangers, SendGarbage) {
  Random random(7, "garbage", 0);
  std::vector<int> sockets;
  for (int i = 0; i < 40; ++i) {
    sockets.push_back(connect_to_server());
    std::string bytes(random.below(5000), ' ');
    for (char& byte : bytes) byte = static_cast<char>(random.below(256));
    static_cast<void>(send(sockets.back(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
    expect_service();
  }
  for (const int fd : sockets) close(fd);
  expect_service();
}

// The greeting of ZMTP 3, whole or in part, and then half a message.
TEST_P(Strangers, SendHalfMessages) {
  const std::string ready(
      "\x04\x29\x05READY\x0bSocket-Type\0\0\0\x06"
      "DEALER\x08Identity\0\0\0\0",
      43);
  const std::string huge("\x02\0\0\0\x01\0\0\0\0", 9);  // announces 4 GiB
  const std::string all = greeting("NULL") + ready + huge + "some of it";
  std::vector<int> sockets;
  for (std::size_t length = 0; length <= all.size(); length += 7) {
    sockets.push_back(connect_to_server());
    static_cast<void>(send(sockets.back(), all.data(), length, MSG_NOSIGNAL));
  }
  expect_service();
  for (const int fd : sockets) close(fd);
  expect_service();
}

TEST_F(StrangersToASecret, HaveNotTheSecretAndAreToldSo) {
  for (const std::string token : {"", "secreT", "secret2"}) {
    Stranger peer(endpoint_, {.secret = token});
    peer.send(hello_packet({.run = "honest", .token = token, .fingerprint = program_.fingerprint()}));
    EXPECT_TRUE(peer.is_refused());
  }
  expect_service();  // after all of the above
  EXPECT_EQ(server_.refused(), 3u);
}

// Peers that may connect, but do not know the secret or do not repeat it.
TEST_P(Strangers, SayHelloWithAnotherSecretAndAreToldSo) {
  for (const std::string token : {"", "secreT", "secret2"}) {
    Stranger peer(endpoint_, papers());
    peer.send(hello_packet({.run = "honest", .token = token, .fingerprint = program_.fingerprint()}));
    const auto reply = peer.receive();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(read_kind(*reply), PacketKind::refusal);
    EXPECT_NE(read_refusal(*reply).find("secret"), std::string::npos);
  }
  expect_service();  // after all of the above
  EXPECT_EQ(server_.refused(), 3u);
}

// A process of another run has the address of one of this run: its calls end at once, with the reason.
TEST_F(StrangersToASecret, AreAnotherRun) {
  Nobody observer;
  Runtime::Options other = options({});
  other.run.token = "another secret";
  Runtime stranger(program_, other, observer);
  const std::vector<PeerState> peers{{.node = 0, .incarnation = 1, .endpoint = endpoint_}};
  stranger.update(peers);
  try {
    stranger.client(Handle<Service>("service/0")).within(seconds(10)).call<&Service::add>(1, 2);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("secret"), std::string::npos) << error.what();
  }
  EXPECT_GE(server_.refused(), 1u);
  expect_service();
}

TEST_P(Strangers, CallWithoutAHello) {
  Stranger peer(endpoint_, papers());
  Message call{.body = Buffer::zeroed(call_front(0))};
  write_call(call, PacketKind::call, {.call = 1, .node = 0, .incarnation = 1}, {});
  peer.send(call);
  peer.send({.body = Buffer::zeroed(3)});
  peer.send({.body = Buffer::zeroed(1), .arrays = {Buffer::zeroed(5), Buffer::zeroed(0)}});
  peer.send(hello_packet({.run = "honest", .token = "no"}));
  ASSERT_TRUE(peer.receive().has_value());  // the refusal, after all of the above
  expect_service();
  EXPECT_EQ(server_.refused(), 4u);
}

// A peer with all credentials sends messages that no lp process would send.
TEST_P(Strangers, SendMalformedCalls) {
  Random random(8, "calls", 0);
  for (int i = 0; i < 200; ++i) {
    Stranger peer(endpoint_, papers());
    peer.send(hello_packet({.run = "honest", .token = "secret", .fingerprint = program_.fingerprint()}));
    ASSERT_TRUE(peer.receive().has_value());
    Message call{.body = Buffer::zeroed(call_front(0) + random.below(100))};
    write_call(call, static_cast<PacketKind>(4 + random.below(7)),
               {.call = random(),
                .method = random(),
                .remaining = static_cast<std::int64_t>(random()),
                .node = static_cast<std::uint32_t>(random.below(3)),
                .incarnation = 1,
                .caller = static_cast<std::uint32_t>(random.below(3))},
               {});
    const auto bytes = call.body.edit();
    for (int change = 0; change < 3; ++change)
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.below(256));
    peer.send(call);
    if (i % 20 == 0) expect_service();
  }
  expect_service();
}

class StrangersLong : public StrangerFixture, public testing::WithParamInterface<std::tuple<bool, std::string>> {
 protected:
  StrangersLong() : StrangerFixture(std::get<0>(GetParam())) {}
};

TEST_P(StrangersLong, TenThousandConnectionsCostLittleAndHonestClientsAreServed) {
  expect_service();
  const std::size_t memory = resident_bytes();
  const std::size_t descriptors = open_descriptors();
  std::size_t most_memory = memory;
  std::size_t most_descriptors = descriptors;
  double slowest = 0;
  const Crowd crowd(port(), 10'000, std::get<1>(GetParam()));
  const double computed = computed_seconds();
  const Time begin = now();
  Event never;
  while (now() - begin < seconds(10)) {
    const Time before = now();
    expect_service();
    slowest = std::max(slowest, std::chrono::duration<double>(now() - before).count());
    most_memory = std::max(most_memory, resident_bytes());
    most_descriptors = std::max(most_descriptors, open_descriptors());
    never.wait(after(std::chrono::milliseconds(50)));
  }
  const double share = (computed_seconds() - computed) / std::chrono::duration<double>(now() - begin).count();
  std::printf("%.1f MiB more, %zu descriptors more, %.1f %% of a core, slowest call %.0f ms, %llu refused\n",
              static_cast<double>(most_memory - memory) / (1 << 20), most_descriptors - descriptors, 100 * share,
              1e3 * slowest, static_cast<unsigned long long>(server_.refused()));
  EXPECT_LT(most_memory - memory, std::size_t{64} << 20);
  EXPECT_LT(most_descriptors - descriptors, 1000u);  // as many as arrive while the guard waits for a core
  EXPECT_LT(share, 0.2);
  EXPECT_LT(slowest, 5);
  EXPECT_GT(server_.refused(), 10u);
}

// CURVE's first command, with 192 bytes that the server must recognize as nonsense.
std::string curve_hello() {
  Random random(9, "hello", 0);
  std::string bytes("\x04\xc8\x05HELLO\x01\0", 10);
  bytes.resize(bytes.size() + 72, '\0');
  while (bytes.size() < 202) bytes += static_cast<char>(random.below(256));
  return bytes;
}

const std::string kHuge("\x06\x10\0\0\0\0\0\0\0", 9);  // announces 2^60 bytes

INSTANTIATE_TEST_SUITE_P(WithASecret, StrangersLong,
                         testing::Combine(testing::Values(false),
                                          testing::Values("", "garbage garbage garbage garbage", greeting("NULL"),
                                                          greeting("PLAIN").substr(0, 30), greeting("PLAIN"),
                                                          greeting("PLAIN") + kHuge)));
INSTANTIATE_TEST_SUITE_P(WithKeys, StrangersLong,
                         testing::Combine(testing::Values(true),
                                          testing::Values("", "garbage garbage garbage garbage", greeting("PLAIN"),
                                                          greeting("CURVE").substr(0, 30), greeting("CURVE"),
                                                          greeting("CURVE") + kHuge,
                                                          greeting("CURVE") + curve_hello())));

// A node names the peers that it calls. Others must not be able to take these names.
TEST_P(Strangers, TakeTheNameOfAnother) {
  const std::vector<PeerState> known{{.node = 1, .incarnation = 1, .key = friend_keys_.public_key}};
  client_.update(known);
  Papers named = papers();
  named.server_key = client_keys_.public_key;
  std::vector<std::unique_ptr<Stranger>> peers;
  for (int i = 2; i < 10; ++i) {
    named.identity = std::to_string(i);
    peers.push_back(std::make_unique<Stranger>(client_.endpoint(), named));
    peers.back()->send(hello_packet({.run = "honest", .token = "no"}));
    ASSERT_TRUE(peers.back()->receive().has_value());
  }
  // The client calls a new peer, and gives it a name.
  Nobody observer;
  const CurveKeys next_keys = keys();
  Runtime next(program_, options(next_keys), observer);
  next.start(0, 2);
  observer.ready.wait(after(seconds(10)));
  const std::vector<PeerState> news{
      {.node = 0, .incarnation = 2, .endpoint = next.endpoint(), .key = next_keys.public_key}};
  client_.update(news);
  expect_service();
}

}  // namespace
}  // namespace lp::test
