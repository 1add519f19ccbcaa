// A stranger on this host who connects to a node's port can neither hurt it nor keep it from its work.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "lp/base/error.h"
#include "lp/base/random.h"
#include "lp/rpc/tcp_packet.h"
#include "lp/wire/envelope.h"
#include "tests/faults/programs_for_test.h"
#include "tests/launchers/tools_for_test.h"

namespace lp::test {
namespace {

using std::chrono::seconds;

class Nobody final : public Runtime::Observer {
  void on_ready(NodeId, std::uint32_t) override { ready.set(); }
  void on_finished(NodeId, std::uint32_t) override {}
  void on_failed(NodeId, std::uint32_t, const Error&) override {}
  void on_stop_requested(NodeId, const std::string&) override {}
  void on_progress(NodeId, const Progress&) override {}
  void on_saved(NodeId, std::uint64_t) override {}
  void on_not_saved(NodeId, std::uint64_t, const Error&) override {}

 public:
  Event ready;
};

// Two runtimes of this process, as two processes would have them: one serves, one calls.
class Stranger : public testing::Test {
 protected:
  Stranger() : server_(program_, options(), observer_), client_(program_, options(), nobody_) {
    server_.start(0, 1);
    observer_.ready.wait(after(seconds(10)));
    const std::vector<PeerState> peers{{.node = 0, .incarnation = 1, .endpoint = server_.endpoint()}};
    client_.update(peers);
  }

  static Runtime::Options options() { return {.run = "honest", .network = true, .path = Path::tcp, .token = "secret"}; }

  void expect_service() {
    const auto client = client_.client(Handle<Service>("service/0")).within(seconds(10));
    EXPECT_EQ(client.call<&Service::add>(1, 2), 3);
  }

  int connect_to_server() const {
    const std::string& endpoint = endpoint_;
    const int port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  const Config config_{.nodes = 1};
  const Program program_ = make_services(config_);
  Nobody observer_;
  Nobody nobody_;
  Runtime server_;
  Runtime client_;
  const std::string endpoint_ = server_.endpoint();
};

TEST_F(Stranger, SendsGarbage) {
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
TEST_F(Stranger, SendsHalfMessages) {
  std::string greeting("\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL", 16);
  greeting.resize(64, '\0');
  const std::string ready(
      "\x04\x29\x05READY\x0bSocket-Type\0\0\0\x06"
      "DEALER\x08Identity\0\0\0\0",
      43);
  const std::string huge("\x02\0\0\0\x01\0\0\0\0", 9);  // announces 4 GiB
  const std::string all = greeting + ready + huge + "some of it";
  std::vector<int> sockets;
  for (std::size_t length = 0; length <= all.size(); length += 7) {
    sockets.push_back(connect_to_server());
    static_cast<void>(send(sockets.back(), all.data(), length, MSG_NOSIGNAL));
  }
  expect_service();
  for (const int fd : sockets) close(fd);
  expect_service();
}

// A ZeroMQ socket that speaks to the server, under an identity of its choice.
class Peer {
 public:
  explicit Peer(const std::string& endpoint, const std::string& identity = "") : socket_(context_, ZMQ_DEALER) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 5000);
    if (!identity.empty()) socket_.set(zmq::sockopt::routing_id, identity);
    socket_.connect(endpoint);
  }
  void send(const Frames& frames) {
    Buffer packet = Buffer::uninitialized(internal::packed_size(frames));
    internal::pack(frames, packet.edit().data());
    send_frame(packet);
    for (const Buffer& piece : internal::pieces(frames)) send_frame(piece);
  }
  void send_frame(const Buffer& content) {
    socket_.send(zmq::buffer(content.data(), content.size()), zmq::send_flags::none);
  }
  // What comes next; nothing within 5 s.
  std::optional<Frames> receive() {
    zmq::message_t message;
    if (!socket_.recv(message)) return std::nullopt;
    std::vector<Frames> received;
    internal::Assembly().add(Buffer::copy_of({static_cast<const std::byte*>(message.data()), message.size()}), false,
                             received);
    return received.at(0);
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
};

TEST_F(Stranger, HasNotTheSecretAndIsToldSo) {
  for (const std::string token : {"", "secreT", "secret2"}) {
    Peer peer(endpoint_);
    peer.send(hello_packet({.run = "honest", .token = token, .fingerprint = program_.fingerprint()}));
    const auto reply = peer.receive();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(read_kind(*reply), PacketKind::refusal);
    EXPECT_NE(read_refusal(*reply).find("secret"), std::string::npos);
  }
  EXPECT_EQ(server_.refused(), 3u);
  expect_service();
}

TEST_F(Stranger, CallsWithoutAHello) {
  Peer peer(endpoint_);
  Frames call{.body = Buffer::zeroed(call_front(0))};
  write_call(call, PacketKind::call, {.call = 1, .node = 0, .incarnation = 1}, {});
  peer.send(call);
  peer.send({.body = Buffer::zeroed(3)});
  peer.send({.body = Buffer::zeroed(1), .arrays = {Buffer::zeroed(5), Buffer::zeroed(0)}});
  peer.send(hello_packet({.run = "honest", .token = "no"}));
  ASSERT_TRUE(peer.receive().has_value());  // the refusal, after all of the above
  EXPECT_EQ(server_.refused(), 4u);
  expect_service();
}

// One who knows the secret, and sends what no lp would.
TEST_F(Stranger, HasTheSecretAndSendsMalformedCalls) {
  Random random(8, "calls", 0);
  for (int i = 0; i < 200; ++i) {
    Peer peer(endpoint_);
    peer.send(hello_packet({.run = "honest", .token = "secret", .fingerprint = program_.fingerprint()}));
    ASSERT_TRUE(peer.receive().has_value());
    Frames call{.body = Buffer::zeroed(call_front(0) + random.below(100))};
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

// The names under which a node knows those whom it calls must not be had by others.
TEST_F(Stranger, TakesTheNameOfAnother) {
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 2; i < 10; ++i) {
    peers.push_back(std::make_unique<Peer>(client_.endpoint(), std::to_string(i)));
    peers.back()->send(hello_packet({.run = "honest", .token = "no"}));
    ASSERT_TRUE(peers.back()->receive().has_value());
  }
  // The client calls somebody new, to whom it gives a name.
  Nobody observer;
  Runtime next(program_, options(), observer);
  next.start(0, 2);
  observer.ready.wait(after(seconds(10)));
  const std::vector<PeerState> news{{.node = 0, .incarnation = 2, .endpoint = next.endpoint()}};
  client_.update(news);
  expect_service();
}

}  // namespace
}  // namespace lp::test
