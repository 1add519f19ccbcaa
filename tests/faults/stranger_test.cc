// A stranger on this host who connects to a node's port can neither hurt it nor keep it from its work.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
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
#include "tests/lp/program/nobody.h"

namespace lp::test {
namespace {

using std::chrono::seconds;

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
  explicit Peer(const std::string& endpoint, const std::string& identity = "", const std::string& token = "secret")
      : socket_(context_, ZMQ_DEALER), monitor_(context_, ZMQ_PAIR) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::rcvtimeo, 5000);
    socket_.set(zmq::sockopt::plain_username, "lp");
    socket_.set(zmq::sockopt::plain_password, "lp " + token);
    zmq_socket_monitor(socket_.handle(), "inproc://monitor", ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
    monitor_.set(zmq::sockopt::linger, 0);
    monitor_.set(zmq::sockopt::rcvtimeo, 5000);
    monitor_.connect("inproc://monitor");
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
  // Whether the other side says within 5 s that it refuses this connection.
  bool is_refused() {
    zmq::message_t event;
    zmq::message_t address;
    return monitor_.recv(event) && monitor_.recv(address);
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
  zmq::socket_t monitor_;
};

TEST_F(Stranger, HasNotTheSecretAndIsToldSo) {
  for (const std::string token : {"", "secreT", "secret2"}) {
    Peer peer(endpoint_, "", token);
    peer.send(hello_packet({.run = "honest", .token = token, .fingerprint = program_.fingerprint()}));
    EXPECT_TRUE(peer.is_refused());
  }
  expect_service();  // after all of the above
  EXPECT_EQ(server_.refused(), 3u);
}

// The same for one that knows the secret of the connection, and does not repeat it.
TEST_F(Stranger, SaysHelloWithAnotherSecretAndIsToldSo) {
  for (const std::string token : {"", "secreT", "secret2"}) {
    Peer peer(endpoint_);
    peer.send(hello_packet({.run = "honest", .token = token, .fingerprint = program_.fingerprint()}));
    const auto reply = peer.receive();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(read_kind(*reply), PacketKind::refusal);
    EXPECT_NE(read_refusal(*reply).find("secret"), std::string::npos);
  }
  expect_service();  // after all of the above
  EXPECT_EQ(server_.refused(), 3u);
}

// A process of another run that has the address of one of this: its calls end at once, and say why.
TEST_F(Stranger, IsAnotherRun) {
  Nobody observer;
  Runtime::Options other = options();
  other.token = "another secret";
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

TEST_F(Stranger, CallsWithoutAHello) {
  Peer peer(endpoint_);
  Frames call{.body = Buffer::zeroed(call_front(0))};
  write_call(call, PacketKind::call, {.call = 1, .node = 0, .incarnation = 1}, {});
  peer.send(call);
  peer.send({.body = Buffer::zeroed(3)});
  peer.send({.body = Buffer::zeroed(1), .arrays = {Buffer::zeroed(5), Buffer::zeroed(0)}});
  peer.send(hello_packet({.run = "honest", .token = "no"}));
  ASSERT_TRUE(peer.receive().has_value());  // the refusal, after all of the above
  expect_service();
  EXPECT_EQ(server_.refused(), 4u);
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

// Memory that this process has in use, and the time that its threads have computed.
std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
double computed_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto total = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return total(usage.ru_utime) + total(usage.ru_stime);
}
std::size_t open_descriptors() {
  const auto entries = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

// Processes that open `connections` to the port, send `bytes` on each, and hold them until the object ends.
class Crowd {
 public:
  static constexpr int kProcesses = 10;
  Crowd(int port, int connections, const std::string& bytes) {
    for (int i = 0; i < kProcesses; ++i) {
      const int child = fork();
      if (child == 0) {
        hold(port, connections / kProcesses, bytes);
        _exit(0);
      }
      children_.push_back(child);
    }
  }
  ~Crowd() {
    for (const int child : children_) kill(child, SIGKILL);
    for (const int child : children_) waitpid(child, nullptr, 0);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  // Without the heap: this is the child of a process with threads.
  static void hold(int port, int connections, const std::string& bytes) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit descriptors{4096, 4096};
    setrlimit(RLIMIT_NOFILE, &descriptors);
    for (int fd = 3; fd < 4096; ++fd) close(fd);  // the parent's
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (;;) {
      int first = -1;
      int last = -1;
      for (int i = 0; i < connections; ++i) {
        last = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (first < 0) first = last;
        static_cast<void>(connect(last, reinterpret_cast<const sockaddr*>(&address), sizeof address));
      }
      for (int round = 0; round < 20; ++round) {  // as they get through
        Word never = 0;
        park(never, 0, after(std::chrono::milliseconds(100)));
        for (int fd = first; fd <= last; ++fd) {
          static_cast<void>(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
        }
      }
      for (int fd = first; fd <= last; ++fd) close(fd);
    }
  }
  std::vector<int> children_;
};

class StrangersLong : public Stranger, public testing::WithParamInterface<std::string> {};

TEST_P(StrangersLong, TenThousandConnectionsCostLittleAndHonestClientsAreServed) {
  const int port = std::stoi(endpoint_.substr(endpoint_.rfind(':') + 1));
  expect_service();
  const std::size_t memory = resident_bytes();
  const std::size_t descriptors = open_descriptors();
  std::size_t most_memory = memory;
  std::size_t most_descriptors = descriptors;
  double slowest = 0;
  const Crowd crowd(port, 10'000, GetParam());
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
  EXPECT_LT(most_descriptors - descriptors, 1000u);  // as many as come while the guard waits for a core
  EXPECT_LT(share, 0.2);
  EXPECT_LT(slowest, 5);
}

// ZMTP's greeting for a mechanism: whole.
std::string greeting(const std::string& mechanism) {
  std::string bytes("\xff\0\0\0\0\0\0\0\x01\x7f\x03\0", 12);
  bytes += mechanism;
  bytes.resize(64, '\0');
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(, StrangersLong,
                         testing::Values("", "garbage garbage garbage garbage", greeting("NULL"),
                                         greeting("PLAIN").substr(0, 30), greeting("PLAIN"),
                                         greeting("PLAIN") + std::string("\x06\x10\0\0\0\0\0\0\0", 9)));  // 2^60 bytes

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
