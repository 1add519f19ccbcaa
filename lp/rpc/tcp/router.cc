#include "lp/rpc/tcp/router.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <zmq.hpp>

#include "lp/base/error.h"
#include "lp/base/recycle.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/tcp/packet.h"

namespace lp::rpc {
namespace {

constexpr const char* kUser = "lp";
constexpr int kEncrypted = 64;         // most bytes that CURVE adds to a message
constexpr int kAcceptBacklog = 128;    // connections that wait to be accepted; a further one tries again after a second
constexpr int kStalled = 30'000;       // milliseconds in which the other side must take sent bytes
constexpr int kHandshake = 2000;       // milliseconds for the handshake
constexpr std::size_t kCopied = 4096;  // larger contents are kept as they came
// libzmq aborts the process when it finds no thread for itself: one for input and output, and a reaper. Other code may
// take some threads meanwhile.
constexpr int kThreads = 4;

// The parts of a message that ZeroMQ holds until it has left.
struct Leaving : Recycled {
  Leaving(Buffer the_content, Function<void()> the_sent) : content(std::move(the_content)), sent(std::move(the_sent)) {}
  Buffer content;
  Function<void()> sent;
  std::atomic<bool> handed_over = false;  // shows ThreadSanitizer the order in ZeroMQ, which it cannot see
};

zmq::message_t to_zmq(Buffer content, Function<void()> sent) {
  auto* const leaving = new Leaving(std::move(content), std::move(sent));  // owned by the message
  auto* const data = const_cast<std::byte*>(leaving->content.data());
  const std::size_t size = leaving->content.size();
  leaving->handed_over.store(true, std::memory_order_release);
  return {data, size,
          [](void*, void* hint) {
            const std::unique_ptr<Leaving> done(static_cast<Leaving*>(hint));
            if (done->handed_over.load(std::memory_order_acquire) && done->sent) done->sent();
          },
          leaving};
}

Buffer from_zmq(zmq::message_t message) {
  const std::span bytes(static_cast<const std::byte*>(message.data()), message.size());
  if (bytes.size() <= kCopied) return Buffer::copy_of(bytes);
  return Buffer::wrap(bytes.data(), bytes.size(), [held = std::move(message)]() mutable { held.rebuild(); });
}

// Returns the number that the authenticator gave to the sender's key.
std::uint64_t permit_of(zmq::message_t& message) {
  const char* const text = zmq_msg_gets(message.handle(), "User-Id");
  std::uint64_t permit = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), permit);
  return permit;
}

// libzmq allocates memory for each incoming piece, and frees it. Memory that malloc keeps needs no new pages from the
// kernel, which cost more than all the rest.
void keep_pieces() {
  constexpr int kArenaBytes = 16 << 20;  // bytes in an arena
  static_cast<void>(mallopt(M_MMAP_THRESHOLD, kArenaBytes));
  static_cast<void>(mallopt(M_TRIM_THRESHOLD, kArenaBytes));
}

}  // namespace

struct Router::State {
  State(const std::string& the_secret, const CurveKeys& the_keys)
      : secret(the_secret), keys(the_keys), socket(context, zmq::socket_type::router) {
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::sndhwm, 0);  // connections bound what is on its way
    socket.set(zmq::sockopt::rcvhwm, 0);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kPieceBytes) + (encrypts() ? kEncrypted : 0));
    socket.set(zmq::sockopt::backlog, kAcceptBacklog);
    socket.set(zmq::sockopt::handshake_ivl, kHandshake);
    socket.set(zmq::sockopt::tcp_maxrt, kStalled);
    socket.set(zmq::sockopt::reconnect_ivl, 20);
    socket.set(zmq::sockopt::reconnect_ivl_max, 1000);
    socket.set(zmq::sockopt::router_mandatory, true);
    if (!encrypts()) return;
    socket.set(zmq::sockopt::curve_publickey, keys.public_key);
    socket.set(zmq::sockopt::curve_secretkey, keys.secret_key);
  }
  bool encrypts() const { return !keys.secret_key.empty(); }

  const std::string secret;
  const CurveKeys keys;
  zmq::context_t context{1};
  zmq::socket_t socket;
};

Router::Router(const std::string& secret, const CurveKeys& keys)
    : state_((check_threads(kThreads), keep_pieces(), std::make_unique<State>(secret, keys))) {}
Router::~Router() = default;

std::string Router::listen(const std::string& address, int port) {
  zmq::socket_t& socket = state_->socket;
  const bool is_v6 = address.find(':') != std::string::npos;
  try {
    if (is_v6) socket.set(zmq::sockopt::ipv6, true);
    // Each endpoint keeps the options that are set when it is made.
    if (state_->encrypts()) {
      socket.set(zmq::sockopt::curve_server, true);
    } else {
      socket.set(zmq::sockopt::plain_server, true);
    }
    socket.bind("tcp://" + (is_v6 ? "[" + address + "]" : address) + ":" + (port == 0 ? "*" : std::to_string(port)));
    if (!state_->encrypts()) {
      socket.set(zmq::sockopt::plain_username, kUser);
      socket.set(zmq::sockopt::plain_password, state_->secret);
    }
    return socket.get(zmq::sockopt::last_endpoint);
  } catch (const zmq::error_t& error) {
    throw Error(ErrorKind::failed, "cannot listen on tcp://" + address + ": " + error.what() +
                                       (error.num() == EMFILE ? "; the limit is `ulimit -n`: raise it"
                                        : error.num() == ENODEV || error.num() == EADDRNOTAVAIL
                                            ? "; `ip address` shows the addresses of this host"
                                            : ""));
  }
}

void Router::connect(const std::string& id, const std::string& endpoint, const std::string& key) {
  try {
    if (state_->encrypts()) state_->socket.set(zmq::sockopt::curve_serverkey, key);
    state_->socket.set(zmq::sockopt::connect_routing_id, id);
    state_->socket.connect(endpoint);
  } catch (const zmq::error_t&) {
    // A thread that waits for the connection learns that from the supervisor, or at the deadline.
  }
}

void Router::disconnect(const std::string& endpoint) {
  try {
    state_->socket.disconnect(endpoint);
  } catch (const zmq::error_t&) {
    // It is gone already.
  }
}

void* Router::context() { return &state_->context; }
void Router::monitor(const char* endpoint, int events) {
  if (zmq_socket_monitor(state_->socket.handle(), endpoint, events) != 0) {
    throw Error(ErrorKind::failed, std::string("cannot watch the connections of TCP: ") + zmq_strerror(zmq_errno()));
  }
}

int Router::descriptor() const { return state_->socket.get(zmq::sockopt::fd); }
bool Router::readable() { return (state_->socket.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0; }

void Router::send(const std::string& id, std::span<const Message> messages, Function<void()> sent) {
  const auto send_one = [&](Buffer content, bool last) {
    zmq::message_t message = to_zmq(std::move(content), last ? std::move(sent) : Function<void()>());
    state_->socket.send(zmq::buffer(id), zmq::send_flags::sndmore);
    state_->socket.send(std::move(message), zmq::send_flags::none);
  };
  try {
    while (!messages.empty()) {
      std::size_t count = 0;
      std::size_t size = 0;
      std::vector<Buffer> following;
      do {
        size += packed_size(messages[count]);
        following = pieces(messages[count]);
        ++count;
      } while (count < messages.size() && size < kPacketBytes && following.empty());
      Buffer packet = Buffer::uninitialized(size);
      std::byte* to = packet.edit().data();
      for (const Message& message : messages.first(count)) to = pack(message, to);
      messages = messages.subspan(count);
      send_one(std::move(packet), messages.empty() && following.empty());
      for (std::size_t i = 0; i < following.size(); ++i) {
        send_one(std::move(following[i]), messages.empty() && i + 1 == following.size());
      }
    }
  } catch (const zmq::error_t& error) {
    if (error.num() == ENOMEM) throw std::bad_alloc();
    if (sent) sent();  // nobody is there
  }
}

bool Router::receive(Arrival& arrival) {
  try {
    zmq::message_t id;
    int taken = 0;
    while ((taken = zmq_msg_recv(id.handle(), state_->socket.handle(), ZMQ_DONTWAIT)) < 0 && zmq_errno() == EINTR) {
    }
    if (taken < 0) return false;
    arrival.id.assign(static_cast<const char*>(id.data()), id.size());
    arrival.content = {};
    arrival.descriptor = -1;
    arrival.permit = 0;
    std::size_t frames = 0;
    for (bool more = id.more(); more; ++frames) {
      zmq::message_t frame;
      // All frames of a message arrive together.
      static_cast<void>(state_->socket.recv(frame, zmq::recv_flags::dontwait));
      more = frame.more();
      if (frames == 0) {  // ZeroMQ drops this data from the id when it has checked for further messages
        arrival.descriptor = zmq_msg_get(frame.handle(), ZMQ_SRCFD);
        if (state_->encrypts()) arrival.permit = permit_of(frame);
      }
      if (frames == 0 && !more) arrival.content = from_zmq(std::move(frame));
    }
    return true;
  } catch (const zmq::error_t&) {
    return false;  // closed
  }
}

}  // namespace lp::rpc
