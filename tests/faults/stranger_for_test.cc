#include "tests/faults/stranger_for_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lp/rpc/tcp/packet.h"

namespace lp::test {
namespace {

constexpr int kProcesses = 10;

// Uses no heap: this is the child of a process with threads.
void hold(int port, int connections, const std::string& bytes) {
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
    for (int round = 0; round < 20; ++round) {  // until they get through
      Word never = 0;
      park(never, 0, after(std::chrono::milliseconds(100)));
      for (int fd = first; fd <= last; ++fd) {
        static_cast<void>(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
      }
    }
    for (int fd = first; fd <= last; ++fd) close(fd);
  }
}

}  // namespace

using std::chrono::seconds;

StrangerFixture::StrangerFixture(bool has_keys)
    : has_keys_(has_keys),
      server_(program_, options(server_keys_), observer_),
      client_(program_, options(client_keys_), nobody_) {
  server_.start(0, 1);
  observer_.ready.wait(after(seconds(10)));
  const std::vector<PeerState> peers{
      {.node = 0, .incarnation = 1, .endpoint = server_.endpoint(), .key = server_keys_.public_key}};
  client_.update(peers);
  tell_server(1, friend_keys_.public_key);
}

Runtime::Options StrangerFixture::options(const CurveKeys& keys) const {
  Runtime::Options options{.run = {.name = "honest", .path = Path::tcp}, .network = true};
  options.process.keys = keys;
  options.run.outside_key = client_keys_.public_key;
  options.run.token = "secret";
  return options;
}

void StrangerFixture::tell_server(std::uint32_t incarnation, const std::string& key) {
  const std::vector<PeerState> peers{{.node = 1, .incarnation = incarnation, .key = key}};
  server_.update(peers);
}

void StrangerFixture::expect_service() {
  const auto client = client_.client(Handle<Service>("service/0")).within(seconds(10));
  EXPECT_EQ(client.call<&Service::add>(1, 2), 3);
}

void StrangerFixture::expect_refusals(std::uint64_t count) {
  for (const Time end = after(seconds(10)); server_.refused() < count && now() < end;) expect_service();
  EXPECT_GE(server_.refused(), count);
}

int StrangerFixture::connect_to_server() const {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

Stranger::Stranger(const std::string& endpoint, const Papers& papers)
    : socket_(context_, ZMQ_DEALER), monitor_(context_, ZMQ_PAIR) {
  socket_.set(zmq::sockopt::linger, 0);
  if (papers.keys.secret_key.empty()) {
    socket_.set(zmq::sockopt::plain_username, "lp");
    socket_.set(zmq::sockopt::plain_password, "lp " + papers.secret);
  } else {
    socket_.set(zmq::sockopt::curve_publickey, papers.keys.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, papers.keys.secret_key);
    socket_.set(zmq::sockopt::curve_serverkey, papers.server_key);
  }
  zmq_socket_monitor(socket_.handle(), "inproc://monitor", ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_DISCONNECTED);
  monitor_.set(zmq::sockopt::linger, 0);
  monitor_.set(zmq::sockopt::rcvtimeo, 5000);
  monitor_.connect("inproc://monitor");
  if (!papers.identity.empty()) socket_.set(zmq::sockopt::routing_id, papers.identity);
  socket_.connect(endpoint);
}

void Stranger::send(const Message& frames) {
  Buffer packet = Buffer::uninitialized(rpc::packed_size(frames));
  rpc::pack(frames, packet.edit().data());
  send_frame(packet);
  for (const Buffer& piece : rpc::pieces(frames)) send_frame(piece);
}

void Stranger::send_frame(const Buffer& content) {
  socket_.send(zmq::buffer(content.data(), content.size()), zmq::send_flags::none);
}

bool Stranger::hears(int wanted) {
  zmq::message_t head;
  zmq::message_t address;
  std::uint16_t event = 0;
  while (event != wanted && monitor_.recv(head) && monitor_.recv(address)) {
    std::memcpy(&event, head.data(), sizeof event);
  }
  return event == wanted;
}

std::optional<Message> Stranger::receive(Duration patience) {
  socket_.set(zmq::sockopt::rcvtimeo,
              static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(patience).count()));
  zmq::message_t message;
  if (!socket_.recv(message)) return std::nullopt;
  std::vector<Message> received;
  rpc::Assembly().add(Buffer::copy_of({static_cast<const std::byte*>(message.data()), message.size()}), false,
                      received);
  return received.at(0);
}

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

Crowd::Crowd(int port, int connections, const std::string& bytes) {
  for (int i = 0; i < kProcesses; ++i) {
    const int child = fork();
    if (child == 0) {
      hold(port, connections / kProcesses, bytes);
      _exit(0);
    }
    children_.push_back(child);
  }
}

Crowd::~Crowd() {
  for (const int child : children_) kill(child, SIGKILL);
  for (const int child : children_) waitpid(child, nullptr, 0);
}

std::string greeting(const std::string& mechanism) {
  std::string bytes("\xff\0\0\0\0\0\0\0\x01\x7f\x03\0", 12);
  bytes += mechanism;
  bytes.resize(64, '\0');
  return bytes;
}

}  // namespace lp::test
