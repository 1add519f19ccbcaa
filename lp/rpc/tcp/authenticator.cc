#include "lp/rpc/tcp/authenticator.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <zmq.hpp>

#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "lp/rpc/core/connection.h"
#include "lp/rpc/core/curve_keys.h"

namespace lp::rpc {
namespace {

constexpr const char* kMonitor = "inproc://lp.monitor";
constexpr const char* kAuthentication = "inproc://zeromq.zap.01";  // RFC 27, ZAP
constexpr std::size_t kStrangers = 64;                             // largest number of connections without a greeting
constexpr std::size_t kFailures = 64;         // failures of strangers within kWindow that shut the door
constexpr std::size_t kStrangersPerLine = 8;  // as many strangers that left without a reason are worth a line
constexpr Duration kWindow = std::chrono::milliseconds(100);  // the time over which failures are counted
constexpr const char* kYes = "200";
constexpr const char* kNo = "400";
constexpr Duration kLogPeriod = std::chrono::seconds(1);  // at most one line in this time
constexpr int kEvents = ZMQ_EVENT_LISTENING | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

// The address of the other end of a socket.
using Remote = std::array<unsigned char, sizeof(sockaddr_in6)>;
Remote remote_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Remote remote{};
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return remote;
  std::memcpy(remote.data(), &address, remote.size());
  return remote;
}

// Shuts or opens the door: the kernel then drops the packets of new connections to the listening socket, and they try
// again later. Nothing else changes.
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

struct Authenticator::State {
  State(Router& router, std::string the_secret, Notices the_notices)
      : secret(std::move(the_secret)),
        notices(std::move(the_notices)),
        asked(*static_cast<zmq::context_t*>(router.context()), zmq::socket_type::router),
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
  struct Accepted {
    Remote remote{};
    bool heard = false;
    bool greeted = false;
  };
  struct Permit {
    std::uint64_t number = 0;
    bool revoked = false;
  };
  struct Request {
    std::string from{};  // the connection's name at ZeroMQ
    std::string number{};
    std::string key{};
  };
  std::mutex mutex;
  std::unordered_map<int, Accepted> accepted;  // by descriptor
  std::size_t strangers = 0;
  std::unordered_map<std::string, Permit> permits;  // by key
  std::unordered_set<std::uint64_t> allowed;        // permits that are not revoked
  std::uint64_t last_permit = 0;
  // The following members belong to the thread.
  std::deque<Request> unanswered;  // requests whose keys are not known
  int listening = -1;
  std::string endpoint;
  bool is_shut = false;
  Time window{};
  std::size_t failures = 0;  // failures in the window
  Time logged{};
  std::uint64_t unlogged = 0;
  std::uint64_t refusals = 0;  // refused strangers whose connections have not ended
  Thread thread;

  void serve();
  bool answer();
  bool answer_key(const Request& request);
  void reply(const Request& request, const char* code, const std::string& user);
  bool receive();
  void on_event(std::uint16_t event, std::int32_t value, const std::string& address);
  void on_disconnected(int descriptor);
  void refuse(const std::string& why);
  void log(const std::string& why);
  Time decide();
};

Authenticator::Authenticator(Router& router, std::string secret, Notices notices)
    : state_(std::make_unique<State>(router, std::move(secret), std::move(notices))) {
  state_->thread = spawn("tcp keys", [state = state_.get()] { state->serve(); });
}

Authenticator::~Authenticator() { close(); }

void Authenticator::close() {
  if (state_->closing.exchange(true)) return;
  state_->poller.wake();
  state_->thread = Thread();
  state_->asked.close();
  state_->monitor.close();
}

void Authenticator::greeted(int descriptor) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->accepted.find(descriptor);
  if (found != state_->accepted.end() && !std::exchange(found->second.greeted, true)) --state_->strangers;
}

void Authenticator::on_packet(int descriptor) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->accepted.find(descriptor);
  if (found != state_->accepted.end()) found->second.heard = true;
}

std::uint64_t Authenticator::allow(const std::string& key) {
  const std::lock_guard lock(state_->mutex);
  State::Permit& permit = state_->permits[key];
  if (permit.number != 0 && !std::exchange(permit.revoked, false)) return permit.number;
  permit.number = ++state_->last_permit;
  state_->allowed.insert(permit.number);
  state_->poller.wake();
  return permit.number;
}

std::uint64_t Authenticator::revoke(const std::string& key) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->permits.find(key);
  if (found == state_->permits.end() || std::exchange(found->second.revoked, true)) return 0;
  state_->allowed.erase(found->second.number);
  return found->second.number;
}

bool Authenticator::allows(std::uint64_t permit) const {
  const std::lock_guard lock(state_->mutex);
  return state_->allowed.contains(permit);
}

void Authenticator::cut(int descriptor) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->accepted.find(descriptor);
  // ZeroMQ may have closed the connection just now, and another socket may have its number.
  if (found == state_->accepted.end() || remote_of(descriptor) != found->second.remote) return;
  shutdown(descriptor, SHUT_RDWR);
}

void Authenticator::State::serve() {
  std::array<Poller::Ready, 2> ready;
  while (!closing) {
    do {
      while (receive()) {
      }
    } while (answer());
    std::erase_if(unanswered, [this](const Request& one) { return answer_key(one); });
    poller.wait(ready, decide());
  }
}

// Answers the next question of ZeroMQ: may this process connect?
bool Authenticator::State::answer() {
  std::vector<std::string> frames;
  try {
    for (bool more = true; more;) {
      zmq::message_t frame;
      if (!asked.recv(frame, zmq::recv_flags::dontwait)) return false;
      more = frame.more();
      frames.push_back(frame.to_string());
    }
    // Handle the earlier events, such as that the connection was accepted: only now are they sure to be there.
    while (receive()) {
    }
    // The frames are: the asker's name and an empty frame; version, number, domain, address, identity, mechanism; name
    // and password, or a key.
    if (frames.size() < 9) return true;
    Request request{.from = frames[0], .number = frames[3]};
    if (frames[7] == "PLAIN" && frames.size() == 10) {
      const bool known = equal_secrets(frames[9], secret);
      if (!known) refuse("does not have the run's secret");
      reply(request, known ? kYes : kNo, "");
    } else if (frames[7] == "CURVE") {
      request.key = curve_text(frames[8]);
      if (answer_key(request)) return true;
      refuse("has no key of this run");
      unanswered.push_back(std::move(request));
      if (unanswered.size() > kStrangers) unanswered.pop_front();
    }
  } catch (const zmq::error_t&) {
    return false;
  }
  return true;
}

// Returns false when the key is not known, or not yet: the key may arrive after the first call, because they take
// different paths. Without an answer the process tries again.
bool Authenticator::State::answer_key(const Request& request) {
  std::unique_lock lock(mutex);
  const auto permit = permits.find(request.key);
  if (permit == permits.end()) return false;
  const Permit found = permit->second;
  lock.unlock();
  if (found.revoked) refuse("has a key that was revoked");
  reply(request, found.revoked ? kNo : kYes, std::to_string(found.number));
  return true;
}

void Authenticator::State::reply(const Request& request, const char* code, const std::string& user) {
  const std::array<std::string, 8> frames{request.from, "", "1.0", request.number, code, "", user, ""};
  try {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      asked.send(zmq::buffer(frames[i]), i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
    }
  } catch (const zmq::error_t&) {
    // The connection has ended.
  }
}

bool Authenticator::State::receive() {
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

void Authenticator::State::on_event(std::uint16_t event, std::int32_t value, const std::string& address) {
  switch (event) {
    case ZMQ_EVENT_LISTENING:
      listening = value;
      endpoint = address;
      return;
    case ZMQ_EVENT_ACCEPTED: {
      const std::lock_guard lock(mutex);
      if (accepted.insert_or_assign(value, Accepted{.remote = remote_of(value)}).second) ++strangers;
      return;
    }
    case ZMQ_EVENT_DISCONNECTED:
      if (address == endpoint) {
        on_disconnected(value);
      } else {
        notices.broken(address);
      }
      return;
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
      if (address != endpoint) notices.refuses_us(address);
      return;
    default:
      if (address == endpoint) refuse("does not use lp's protocol");
      return;
  }
}

void Authenticator::State::on_disconnected(int descriptor) {
  Accepted ended;
  {
    const std::lock_guard lock(mutex);
    const auto found = accepted.find(descriptor);
    if (found == accepted.end()) return;
    ended = found->second;
    accepted.erase(found);
    if (!ended.greeted) --strangers;
  }
  if (ended.greeted) {
    notices.ended(descriptor);
    return;
  }
  ++failures;
  if (ended.heard) return;
  if (refusals > 0) {
    --refusals;
    return;
  }
  // ZeroMQ gives no reason for the end of some connections, such as one that announced a message of 2^60 bytes. A few
  // may be processes of this run that were ended themselves.
  notices.refused();
  if (++unlogged >= kStrangersPerLine) log("left before it had given its key");
}

void Authenticator::State::refuse(const std::string& why) {
  notices.refused();
  ++refusals;
  ++unlogged;
  log(why);
}

void Authenticator::State::log(const std::string& why) {
  if (now() - logged < kLogPeriod) return;
  logged = now();
  log_line("refused " + std::to_string(std::exchange(unlogged, 0)) + " connection(s) to " + endpoint +
           ": a process that connected " + why);
}

// Shuts or opens the door. Returns the time of the next check.
Time Authenticator::State::decide() {
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

}  // namespace lp::rpc
