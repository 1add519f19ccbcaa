#include "launchers/remote/agent_acceptor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "launchers/control/message_stream.h"
#include "launchers/remote/tunnel.h"
#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "lp/rpc/tcp/authenticator.h"
#include "lp/rpc/tcp/router.h"

namespace lp::launch {
namespace {

constexpr auto kAgentEndTimeout = std::chrono::seconds(6);  // for agents that kill their remaining processes
constexpr std::uint64_t kRouterTag = 0;

}  // namespace

struct AgentAcceptor::State {
  State(Options given, Arrived the_arrived)
      : options(std::move(given)),
        arrived(std::move(the_arrived)),
        router("", options.keys),
        authenticator(router, "",
                      {.refused = [] {},
                       .refuses_us = [](const std::string&) {},
                       .ended =
                           [this](int descriptor) {
                             const std::lock_guard lock(mutex);
                             ended.push_back(descriptor);
                             poller.wake();
                           },
                       .broken = [](const std::string&) {}}) {
    for (std::size_t agent = 0; agent < options.agents.size(); ++agent) {
      permits[authenticator.allow(options.agents[agent])] = agent;
    }
    endpoint = router.listen(options.address, options.port);
    poller.add(router.descriptor(), kRouterTag);
  }

  // An agent that has dialed.
  struct Session {
    std::size_t agent = 0;
    std::string id{};     // the router's name for it
    int descriptor = -1;  // the descriptor of its connection
    std::unique_ptr<Tunnel> tunnel{};
    bool lost = false;  // the owner closed its stream before the run was over, so its end is not awaited
  };
  using Sessions = std::map<std::uint64_t, Session>;  // by the tag of the poller

  void serve();
  void receive();
  void handle(const rpc::Router::Arrival& from, std::span<const std::byte> message);
  void accept(const rpc::Router::Arrival& from);
  void cut(const rpc::Router::Arrival& from);
  Sessions::iterator session_of(const std::string& id);
  void send(const std::string& id, Buffer message);
  void forget_ended();
  Tunnel::Kind last() const { return finished ? Tunnel::Kind::over : Tunnel::Kind::lost; }

  const Options options;
  Arrived arrived;
  Poller poller;
  std::mutex mutex;
  std::vector<int> ended;  // connections that have ended
  rpc::Router router;
  rpc::Authenticator authenticator;
  std::string endpoint;
  std::map<std::uint64_t, std::size_t> permits;  // agents, by the authenticator's names for their keys
  std::atomic<bool> finished = false;
  std::atomic<bool> closing = false;
  // Members that only the thread uses:
  Sessions sessions;
  std::uint64_t last_tag = kRouterTag;
  Thread thread;
};

AgentAcceptor::AgentAcceptor(Options options, Arrived arrived)
    : state_(std::make_unique<State>(std::move(options), std::move(arrived))) {
  state_->thread = spawn("acceptor", [state = state_.get()] { state->serve(); });
}

AgentAcceptor::~AgentAcceptor() {
  state_->closing = true;
  state_->poller.wake();
  state_->thread = Thread();
  state_->authenticator.close();
}

const std::string& AgentAcceptor::endpoint() const { return state_->endpoint; }
void AgentAcceptor::finish() { state_->finished = true; }

void AgentAcceptor::State::serve() {
  std::array<Poller::Ready, 64> ready;
  for (Time end = kNever;;) {
    receive();
    forget_ended();
    std::erase_if(sessions,
                  [](const auto& one) { return one.second.tunnel->ended_here() && one.second.tunnel->ended_there(); });
    if (closing && end == kNever) end = after(kAgentEndTimeout);
    const bool all_lost =
        std::all_of(sessions.begin(), sessions.end(), [](const auto& one) { return one.second.lost; });
    if (closing && (all_lost || passed(end))) return;
    if (router.readable()) continue;  // the messages sent above have consumed its event
    const std::size_t count = poller.wait(ready, end);
    for (std::size_t i = 0; i < count; ++i) {
      const auto session = sessions.find(ready[i].tag);
      if (session == sessions.end()) continue;
      if (!session->second.tunnel->handle(ready[i])) continue;
      // Read it only now: the owner may have called finish() just before it closed the stream.
      session->second.lost = !finished;
      send(session->second.id, tunnel_message(last()));
    }
  }
}

void AgentAcceptor::State::receive() {
  rpc::Router::Arrival arrival;
  while (router.receive(arrival)) {
    authenticator.on_packet(arrival.descriptor);
    const bool understood = for_each_message(arrival, [&](auto message) { handle(arrival, message); });
    if (!understood) cut(arrival);
  }
}

void AgentAcceptor::State::handle(const rpc::Router::Arrival& from, std::span<const std::byte> message) {
  const auto session = session_of(from.id);
  if (session == sessions.end()) {
    if (kind_of(message) == Tunnel::Kind::hello) return accept(from);
    return send(from.id, tunnel_message(last()));  // its connection ended meanwhile: it shall dial again
  }
  if (!session->second.tunnel->take(message)) cut(from);
}

// Drops an agent whose message is malformed.
void AgentAcceptor::State::cut(const rpc::Router::Arrival& from) {
  std::erase_if(sessions, [&](const auto& one) { return one.second.id == from.id; });
  authenticator.cut(from.descriptor);
}

void AgentAcceptor::State::accept(const rpc::Router::Arrival& from) {
  const auto permit = permits.find(from.permit);
  if (permit == permits.end()) return;
  if (closing || finished) return send(from.id, tunnel_message(Tunnel::Kind::over));
  authenticator.greeted(from.descriptor);
  const auto before = std::find_if(sessions.begin(), sessions.end(),
                                   [&](const auto& one) { return one.second.agent == permit->second; });
  if (before != sessions.end()) {
    if (!before->second.lost) return;  // until that one is lost; the newcomer repeats its greeting
    send(before->second.id, tunnel_message(Tunnel::Kind::lost));
    sessions.erase(before);
  }
  try {
    const SocketPair ends = make_socket_pair();
    Descriptor ours(ends.ours);
    Session session{.agent = permit->second, .id = from.id, .descriptor = from.descriptor};
    session.tunnel = std::make_unique<Tunnel>(Descriptor(ends.theirs), poller, ++last_tag,
                                              [this, id = from.id](Buffer message) { send(id, std::move(message)); });
    sessions.emplace(last_tag, std::move(session));
    const auto lease = static_cast<std::uint32_t>(options.lease.count());
    send(from.id, tunnel_message(Tunnel::Kind::hello, std::as_bytes(std::span(&lease, 1))));
    arrived(permit->second, std::move(ours));
  } catch (const Error& error) {
    log_line(std::string("an agent could not be accepted, and will try again: ") + error.what());
    authenticator.cut(from.descriptor);
  }
}

AgentAcceptor::State::Sessions::iterator AgentAcceptor::State::session_of(const std::string& id) {
  return std::find_if(sessions.begin(), sessions.end(), [&](const auto& one) { return one.second.id == id; });
}

void AgentAcceptor::State::send(const std::string& id, Buffer message) {
  const Message frames{.body = std::move(message)};
  router.send(id, std::span(&frames, 1), {});
}

// The streams of connections that have ended end with them.
void AgentAcceptor::State::forget_ended() {
  std::vector<int> connections;
  {
    const std::lock_guard lock(mutex);
    connections.swap(ended);
  }
  std::erase_if(sessions, [&](const auto& one) {
    return std::find(connections.begin(), connections.end(), one.second.descriptor) != connections.end();
  });
}

}  // namespace lp::launch
