#include "lp/rpc/tcp.h"

#include <sys/random.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <zmq.hpp>

#include "lp/base/scheduler.h"
#include "lp/rpc/hub.h"
#include "lp/wire/envelope.h"

namespace lp::internal {
namespace {

constexpr std::size_t kCopied = 4096;  // smaller frames are copied, larger ones shared
constexpr int kBurst = 256;            // messages taken before the outbox gets its turn

// What the names begin with under which this socket knows those whom it dials. Nobody can guess it: those who dial us
// may choose their names, and libzmq aborts when a name that we give is taken.
std::string secret_prefix() {
  std::array<char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error(ErrorKind::failed, "the system gives no random bytes");
  }
  return "lp" + std::string(bytes.begin(), bytes.end());  // libzmq's own begin with a zero byte
}

zmq::message_t to_zmq(const Buffer& buffer) {
  if (buffer.size() <= kCopied) return zmq::message_t(buffer.data(), buffer.size());
  auto held = std::make_unique<Buffer>(buffer);
  zmq::message_t message(
      const_cast<std::byte*>(buffer.data()), buffer.size(),
      [](void*, void* hint) { const std::unique_ptr<Buffer> released(static_cast<Buffer*>(hint)); }, held.get());
  static_cast<void>(held.release());  // the message owns it now
  return message;
}

Buffer from_zmq(zmq::message_t message) {
  const std::span bytes(static_cast<const std::byte*>(message.data()), message.size());
  if (bytes.size() <= kCopied) return Buffer::copy_of(bytes);
  return Buffer::wrap(bytes.data(), bytes.size(), [held = std::move(message)]() mutable { held.rebuild(); });
}

// libzmq aborts the process when it finds no thread for itself. Throws Error, which names the limit, when that would
// be.
void check_threads() {
  struct Trial {
    Event end;
    Thread thread;
    ~Trial() { end.set(); }
  };
  std::array<Trial, 4> trials;  // its I/O thread and its reaper, and some that others may take meanwhile
  for (Trial& trial : trials) {
    trial.thread = spawn("trial", [&end = trial.end] { end.wait(); });
  }
}

}  // namespace

// One thread owns the socket; all others leave commands.
struct Tcp::State {
  explicit State(Hub& the_hub) : hub(the_hub), socket(context, zmq::socket_type::router) {}

  struct Command {
    enum class Kind : std::uint8_t { send, connect, disconnect } kind = Kind::send;
    std::string id{};
    std::string endpoint{};
    Frames message{};
  };

  Hub& hub;
  zmq::context_t context{1};
  zmq::socket_t socket;
  std::string endpoint;
  std::mutex mutex;
  std::deque<Command> commands;
  std::unordered_map<std::string, std::pair<std::string, std::shared_ptr<Connection>>>
      dialed;  // by endpoint: id, connection
  const std::string prefix = secret_prefix();
  std::uint64_t dials = 0;
  bool closing = false;
  std::atomic<bool> sleeping = false;
  std::unordered_map<std::string, std::shared_ptr<Connection>> by_id;  // the thread's own
  Poller poller;
  Thread thread;  // last: it uses all of the above

  void post(Command command) {
    {
      const std::lock_guard lock(mutex);
      if (closing) return;
      commands.push_back(std::move(command));
    }
    if (sleeping.exchange(false)) poller.wake();
  }

  void serve();
  void execute(Command& command);
  bool receive();
  void dispatch(const std::string& id, Frames message);
};

class Tcp::ZmqLink final : public Link {
 public:
  ZmqLink(State& state, std::string id) : state_(state), id_(std::move(id)) {}
  void send(Frames message) override {
    state_.post({.kind = State::Command::Kind::send, .id = id_, .endpoint = {}, .message = std::move(message)});
  }

 private:
  State& state_;
  const std::string id_;
};

Tcp::Tcp(Hub& hub) {
  check_threads();
  state_ = std::make_unique<State>(hub);
  try {
    zmq::socket_t& socket = state_->socket;
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::sndhwm, 0);  // connections bound what is on its way
    socket.set(zmq::sockopt::rcvhwm, 0);
    socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(Link::kLargestFrame));
    socket.set(zmq::sockopt::reconnect_ivl, 20);
    socket.set(zmq::sockopt::reconnect_ivl_max, 1000);
    socket.set(zmq::sockopt::router_mandatory, true);
    socket.bind("tcp://127.0.0.1:*");
    state_->endpoint = socket.get(zmq::sockopt::last_endpoint);
    state_->poller.add(socket.get(zmq::sockopt::fd), 0);
  } catch (const zmq::error_t& error) {
    throw Error(ErrorKind::failed, std::string("cannot listen on tcp://127.0.0.1: ") + error.what() +
                                       (error.num() == EMFILE ? "; the limit is `ulimit -n`: raise it" : ""));
  }
  state_->thread = spawn("network", [state = state_.get()] { state->serve(); });
}

Tcp::~Tcp() { close(); }

const std::string& Tcp::endpoint() const { return state_->endpoint; }

std::shared_ptr<Connection> Tcp::dial(const std::string& endpoint) {
  std::string id;
  std::shared_ptr<Connection> connection;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->dialed.find(endpoint);
    if (found != state_->dialed.end()) return found->second.second;
    id = state_->prefix + std::to_string(++state_->dials);
    connection = std::make_shared<Connection>(state_->hub, std::make_unique<ZmqLink>(*state_, id));
    state_->dialed.emplace(endpoint, std::pair(id, connection));
  }
  state_->post({.kind = State::Command::Kind::connect, .id = id, .endpoint = endpoint, .message = {}});
  connection->greet();
  return connection;
}

void Tcp::hang_up(const std::string& endpoint) {
  std::pair<std::string, std::shared_ptr<Connection>> dialed;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->dialed.find(endpoint);
    if (found == state_->dialed.end()) return;
    dialed = std::move(found->second);
    state_->dialed.erase(found);
  }
  state_->post({.kind = State::Command::Kind::disconnect, .id = dialed.first, .endpoint = endpoint, .message = {}});
  dialed.second->close();
}

void Tcp::close() {
  std::unordered_map<std::string, std::pair<std::string, std::shared_ptr<Connection>>> dialed;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->closing) return;
    state_->closing = true;
    dialed = std::exchange(state_->dialed, {});
  }
  state_->poller.wake();
  state_->thread = Thread();
  for (auto& [endpoint, connection] : dialed) connection.second->close();
  for (auto& [id, connection] : state_->by_id) connection->close();
  state_->by_id.clear();
}

void Tcp::State::serve() {
  std::deque<Command> batch;
  Poller::Ready ready;
  for (;;) {
    {
      const std::lock_guard lock(mutex);
      if (closing && commands.empty()) return;
      batch.swap(commands);
    }
    for (Command& command : batch) execute(command);
    bool worked = !batch.empty();
    batch.clear();
    int taken = 0;
    while (taken < kBurst && receive()) ++taken;
    if (worked || taken > 0) continue;
    sleeping = true;
    {
      const std::lock_guard lock(mutex);
      if (closing || !commands.empty()) {
        sleeping = false;
        continue;
      }
    }
    // The descriptor of a ZeroMQ socket speaks only once of news: look before every sleep.
    if ((socket.get(zmq::sockopt::events) & ZMQ_POLLIN) == 0) poller.wait(std::span(&ready, 1), kNever);
    sleeping = false;
  }
}

void Tcp::State::execute(Command& command) {
  try {
    switch (command.kind) {
      case Command::Kind::connect: {
        const std::lock_guard lock(mutex);
        const auto found = dialed.find(command.endpoint);
        if (found == dialed.end() || found->second.first != command.id) return;  // hung up meanwhile
        by_id.insert_or_assign(command.id, found->second.second);
      }
        socket.set(zmq::sockopt::connect_routing_id, command.id);
        socket.connect(command.endpoint);
        return;
      case Command::Kind::disconnect:
        by_id.erase(command.id);
        socket.disconnect(command.endpoint);
        return;
      case Command::Kind::send: break;
    }
    const std::size_t last = command.message.arrays.size();
    socket.send(zmq::buffer(command.id), zmq::send_flags::sndmore);
    socket.send(to_zmq(command.message.body), last == 0 ? zmq::send_flags::none : zmq::send_flags::sndmore);
    for (std::size_t i = 0; i < last; ++i) {
      socket.send(to_zmq(command.message.arrays[i]), i + 1 == last ? zmq::send_flags::none : zmq::send_flags::sndmore);
    }
  } catch (const zmq::error_t&) {
    // The other side is gone. Whoever waits for it learns so from the supervisor, or at the deadline.
  }
}

bool Tcp::State::receive() {
  zmq::message_t id;
  try {
    if (!socket.recv(id, zmq::recv_flags::dontwait)) return false;
    Frames message;
    bool first = true;
    bool more = id.more();
    while (more) {
      zmq::message_t frame;
      if (!socket.recv(frame, zmq::recv_flags::dontwait)) break;
      more = frame.more();
      Buffer buffer = from_zmq(std::move(frame));
      if (first) {
        message.body = std::move(buffer);
      } else {
        message.arrays.push_back(std::move(buffer));
      }
      first = false;
    }
    dispatch(id.to_string(), std::move(message));
  } catch (const zmq::error_t& error) {
    return error.num() == EINTR;
  }
  return true;
}

void Tcp::State::dispatch(const std::string& id, Frames message) {
  std::shared_ptr<Connection> connection;
  if (const auto found = by_id.find(id); found != by_id.end()) connection = found->second;
  try {
    if (connection == nullptr) {
      connection = std::make_shared<Connection>(hub, std::make_unique<ZmqLink>(*this, id));
      static_cast<void>(connection->on_message(std::move(message)));  // a hello
      by_id.emplace(id, std::move(connection));
    } else if (const Runnable handler = connection->on_message(std::move(message))) {
      hub.pool().run([handler] { handler.run(); });
    }
  } catch (const std::exception&) {
    if (connection != nullptr) connection->refuse();
    by_id.erase(id);
  }
}

}  // namespace lp::internal
