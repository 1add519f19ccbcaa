#include "lp/rpc/tcp_guard.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <zmq.hpp>

#include "lp/base/scheduler.h"
#include "lp/rpc/connection.h"

namespace lp::internal {
namespace {

constexpr const char* kMonitor = "inproc://lp.monitor";
constexpr const char* kAuthentication = "inproc://zeromq.zap.01";  // RFC 27, ZAP
constexpr std::size_t kStrangers = 64;                             // connections that were not greeted, at a time
constexpr std::size_t kFailures = 64;                              // of strangers, in
constexpr Duration kWindow = std::chrono::milliseconds(100);       // such a time
constexpr Duration kLogged = std::chrono::seconds(1);              // a line in so long
constexpr int kEvents = ZMQ_EVENT_LISTENING | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

// The kernel drops what new ones send to the listening socket, and they try again later; nothing else changes.
void shut(int listening, bool on) {
  sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{.len = 1, .filter = &drop};
  if (on) {
    setsockopt(listening, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
  } else {
    const int ignored = 0;
    setsockopt(listening, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof ignored);
  }
}

}  // namespace

struct TcpGuard::State {
  State(Router& router, std::string the_secret, Notices the_notices)
      : secret(std::move(the_secret)),
        notices(std::move(the_notices)),
        asked(*static_cast<zmq::context_t*>(router.context()), zmq::socket_type::rep),
        monitor(*static_cast<zmq::context_t*>(router.context()), zmq::socket_type::pair) {
    asked.set(zmq::sockopt::linger, 0);
    asked.bind(kAuthentication);
    router.monitor(kMonitor, kEvents);
    monitor.set(zmq::sockopt::linger, 0);
    monitor.set(zmq::sockopt::rcvhwm, 0);
    monitor.connect(kMonitor);
    poller.add(asked.get(zmq::sockopt::fd), 0);
    poller.add(monitor.get(zmq::sockopt::fd), 1);
  }

  const std::string secret;
  Notices notices;
  zmq::socket_t asked;
  zmq::socket_t monitor;
  Poller poller;
  std::atomic<bool> closing = false;
  std::mutex mutex;
  std::unordered_map<int, bool> accepted;  // by descriptor: whether it was greeted
  std::size_t strangers = 0;
  // The thread's own:
  int listening = -1;
  std::string endpoint;
  bool is_shut = false;
  Time window{};
  std::size_t failures = 0;  // in the window
  Time logged{};
  std::uint64_t unlogged = 0;
  Thread thread;

  void serve();
  bool answer();
  bool hear();
  void on_event(std::uint16_t event, std::int32_t value, const std::string& address);
  void on_disconnected(int descriptor);
  void refuse(const std::string& why);
  Time decide();
};

TcpGuard::TcpGuard(Router& router, std::string secret, Notices notices)
    : state_(std::make_unique<State>(router, std::move(secret), std::move(notices))) {
  state_->thread = spawn("tcp guard", [state = state_.get()] { state->serve(); });
}

TcpGuard::~TcpGuard() { close(); }

void TcpGuard::close() {
  if (state_->closing.exchange(true)) return;
  state_->poller.wake();
  state_->thread = Thread();
  state_->asked.close();
  state_->monitor.close();
}

void TcpGuard::greeted(int descriptor) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->accepted.find(descriptor);
  if (found != state_->accepted.end() && !std::exchange(found->second, true)) --state_->strangers;
}

void TcpGuard::State::serve() {
  std::array<Poller::Ready, 2> ready;
  while (!closing) {
    // All that happened before a connection asks: so a descriptor that it has again is known to be free.
    do {
      while (hear()) {
      }
    } while (answer());
    poller.wait(ready, decide());
  }
}

// Tells ZeroMQ whether one who asks may connect.
bool TcpGuard::State::answer() {
  std::vector<std::string> request;
  try {
    for (bool more = true; more;) {
      zmq::message_t frame;
      if (!asked.recv(frame, zmq::recv_flags::dontwait)) return false;
      more = frame.more();
      request.push_back(frame.to_string());
    }
    // version, number, domain, address, identity, mechanism, name, password
    const bool known = request.size() == 8 && request[5] == "PLAIN" && equal_secrets(request[7], secret);
    if (!known && request.size() > 3) refuse("has not the run's secret");
    const std::array<std::string, 6> reply{"1.0", request.size() > 1 ? request[1] : "", known ? "200" : "400", "", "",
                                           ""};
    for (std::size_t i = 0; i < reply.size(); ++i) {
      asked.send(zmq::buffer(reply[i]), i + 1 < reply.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  } catch (const zmq::error_t&) {
    return false;
  }
  return true;
}

bool TcpGuard::State::hear() {
  try {
    zmq::message_t head;
    zmq::message_t address;
    if (!monitor.recv(head, zmq::recv_flags::dontwait) || !monitor.recv(address, zmq::recv_flags::dontwait)) {
      return false;
    }
    std::uint16_t event = 0;
    std::int32_t value = 0;
    if (head.size() < sizeof event + sizeof value) return true;
    std::memcpy(&event, head.data(), sizeof event);
    std::memcpy(&value, head.data<std::byte>() + sizeof event, sizeof value);
    on_event(event, value, address.to_string());
  } catch (const zmq::error_t&) {
    return false;
  }
  return true;
}

void TcpGuard::State::on_event(std::uint16_t event, std::int32_t value, const std::string& address) {
  switch (event) {
    case ZMQ_EVENT_LISTENING:
      listening = value;
      endpoint = address;
      return;
    case ZMQ_EVENT_ACCEPTED: {
      const std::lock_guard lock(mutex);
      if (accepted.insert_or_assign(value, false).second) ++strangers;
      return;
    }
    case ZMQ_EVENT_DISCONNECTED: on_disconnected(value); return;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      if (address != endpoint) notices.refuses_us(address);
      return;
    default:
      if (address == endpoint) refuse("does not speak as lp does");
      return;
  }
}

void TcpGuard::State::on_disconnected(int descriptor) {
  bool was_greeted = false;
  {
    const std::lock_guard lock(mutex);
    const auto found = accepted.find(descriptor);
    if (found == accepted.end()) return;  // one that we dialed
    was_greeted = found->second;
    accepted.erase(found);
    if (!was_greeted) --strangers;
  }
  if (was_greeted) {
    notices.ended(descriptor);
  } else {
    ++failures;
  }
}

void TcpGuard::State::refuse(const std::string& why) {
  notices.refused();
  ++unlogged;
  if (now() - logged < kLogged) return;
  logged = now();
  std::fprintf(stderr, "lp: refused %llu connection(s) to %s: one who connected %s\n",
               static_cast<unsigned long long>(std::exchange(unlogged, 0)), endpoint.c_str(), why.c_str());
}

// Shuts the door or opens it; returns when to look again.
Time TcpGuard::State::decide() {
  const Time time = now();
  if (time - window >= kWindow) {
    window = time;
    failures = 0;
  }
  std::size_t trying = 0;
  {
    const std::lock_guard lock(mutex);
    trying = strangers;
  }
  const bool crowded = trying >= kStrangers || failures >= kFailures;
  if (crowded != is_shut && listening >= 0) shut(listening, is_shut = crowded);
  return is_shut ? window + kWindow : kNever;
}

}  // namespace lp::internal
