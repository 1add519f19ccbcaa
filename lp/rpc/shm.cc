#include "lp/rpc/shm.h"

#include <sys/random.h>

#include <array>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lp/base/shared_heap.h"
#include "lp/rpc/handshake.h"
#include "lp/rpc/hub.h"
#include "lp/rpc/receivers.h"
#include "lp/rpc/shm_link.h"

namespace lp::internal {
namespace {

constexpr Duration kNoDescriptors = std::chrono::milliseconds(100);  // until it is tried again
constexpr std::size_t kUnknown = 64;  // who has connected and not yet introduced itself; the oldest of more goes

std::string random_name() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw Error(ErrorKind::failed, "the system gives no random bytes");
  }
  std::string name;
  for (const unsigned char byte : bytes) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return name;
}

}  // namespace

struct Shm::State : std::enable_shared_from_this<State> {
  explicit State(Hub& the_hub)
      : hub(the_hub), heap(SharedHeap::use(the_hub.options().shared_memory)), listening(listen_locally(name)) {}

  // One link: its place in `open` is its lane at our bell.
  struct Open {
    bool reserved = false;
    std::shared_ptr<Connection> connection{};
    ShmLink* link = nullptr;  // the connection's
    Descriptor socket{};
    std::string dialed{};  // the name, if this side dialed
  };

  static constexpr std::uint64_t kListening =
      Bell::kLanes;  // tags of the poller: a lane, this, or more for the unknown

  Hub& hub;
  SharedHeap& heap;
  const std::string name = random_name();
  const Descriptor listening;
  std::unique_ptr<Receivers> receivers;
  std::mutex dialing;  // one at a time
  std::mutex mutex;
  std::deque<Open> open;
  bool closing = false;
  Poller poller;
  std::deque<std::pair<std::uint64_t, Descriptor>> unknown;  // the thread's own
  std::uint64_t next_tag = kListening + 1;
  Thread thread;

  void serve();
  bool accept();
  void meet(std::uint64_t tag);
  std::uint32_t reserve();
  std::shared_ptr<Connection> join(ShmLink::Side side, std::uint32_t lane, Introduction introduction, Descriptor socket,
                                   const std::string& dialed);
  void end(std::uint32_t lane, bool by_us = true);
  void receive(std::uint32_t lane);
};

Shm::Shm(Hub& hub) : state_(std::make_shared<State>(hub)) {
  // The threads that receive keep what they receive for until they end, which may be later than this object.
  state_->receivers =
      std::make_unique<Receivers>(hub.pool(), [state = state_.get(), keep = std::weak_ptr(state_)](std::uint32_t lane) {
        if (const auto held = keep.lock()) held->receive(lane);
      });
  state_->poller.add(state_->listening.number(), State::kListening);
  state_->thread = spawn("shm", [state = state_.get()] { state->serve(); });
}

Shm::~Shm() { close(); }

const std::string& Shm::name() const { return state_->name; }

std::shared_ptr<Connection> Shm::dial(const std::string& name) {
  State& state = *state_;
  const std::lock_guard dialing(state.dialing);
  {
    const std::lock_guard lock(state.mutex);
    for (const State::Open& one : state.open) {
      if (one.connection != nullptr && one.dialed == name) return one.connection;
    }
  }
  Descriptor socket = connect_locally(name);
  SharedMemory lanes = SharedMemory::create("lp-lanes", sizeof(LanePair));
  ::new (lanes.data()) LanePair;  // its rings stay untouched
  const std::uint32_t lane = state.reserve();
  try {
    send_memory(socket.number(), lane, &lanes, *state.receivers->bell(), state.heap.memory());
    Introduction introduction = receive_memory(socket, /*dialed=*/false);
    introduction.lanes = std::move(lanes);
    const auto connection = state.join(ShmLink::Side::dialer, lane, std::move(introduction), std::move(socket), name);
    connection->greet();
    return connection;
  } catch (...) {
    state.end(lane);
    throw;
  }
}

void Shm::hang_up(const std::string& name) {
  std::uint32_t lane = 0;
  {
    const std::lock_guard lock(state_->mutex);
    while (lane < state_->open.size() && (state_->open[lane].dialed != name || name.empty())) ++lane;
    if (lane == state_->open.size()) return;
  }
  state_->end(lane);
}

void Shm::close() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->closing) return;
    state_->closing = true;
  }
  state_->poller.wake();
  state_->thread = Thread();
  for (std::uint32_t lane = 0; lane < state_->open.size(); ++lane) state_->end(lane);
  state_->receivers.reset();
}

void Shm::State::serve() {
  std::array<Poller::Ready, 64> ready;
  bool listens = true;
  for (;;) {
    const std::size_t count = poller.wait(ready, listens ? kNever : after(kNoDescriptors));
    {
      const std::lock_guard lock(mutex);
      if (closing) return;
    }
    if (!listens) poller.add(listening.number(), kListening);
    listens = true;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t tag = ready[i].tag;
      if (tag < kListening) {
        end(static_cast<std::uint32_t>(tag), /*by_us=*/false);  // nothing comes after the introduction but the end
      } else if (tag > kListening) {
        meet(tag);
      } else if (!accept()) {
        poller.remove(listening.number());  // others wait, or take TCP
        listens = false;
      }
    }
  }
}

// False when this process has no descriptor for another one.
bool Shm::State::accept() {
  try {
    while (std::optional<Descriptor> accepted = accept_neighbour(listening)) {
      unknown.emplace_back(next_tag++, std::move(*accepted));
      poller.add(unknown.back().second.number(), unknown.back().first);
      if (unknown.size() > kUnknown) {
        poller.remove(unknown.front().second.number());
        unknown.pop_front();
      }
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

void Shm::State::meet(std::uint64_t tag) {
  Descriptor socket;
  for (auto one = unknown.begin(); one != unknown.end(); ++one) {
    if (one->first != tag) continue;
    socket = std::move(one->second);
    unknown.erase(one);
    break;
  }
  if (!socket) return;
  poller.remove(socket.number());
  std::uint32_t lane = Bell::kLanes;
  try {
    Introduction introduction = receive_memory(socket, /*dialed=*/true);
    lane = reserve();
    const int number = socket.number();
    const auto connection = join(ShmLink::Side::dialed, lane, std::move(introduction), std::move(socket), "");
    send_memory(number, lane, nullptr, *receivers->bell(), heap.memory());
  } catch (const std::exception&) {
    hub.count_refusal();
    if (lane < Bell::kLanes) end(lane);
  }
}

std::uint32_t Shm::State::reserve() {
  const std::lock_guard lock(mutex);
  if (closing) throw Error(ErrorKind::stopped, "the run ends");
  std::uint32_t lane = 0;
  while (lane < open.size() && open[lane].reserved) ++lane;
  if (lane == Bell::kLanes) {
    throw Error(ErrorKind::failed,
                "shared memory: " + std::to_string(Bell::kLanes) + " links are as many as there are");
  }
  if (lane == open.size()) open.emplace_back();
  open[lane].reserved = true;
  receivers->expect(lane + 1);
  return lane;
}

std::shared_ptr<Connection> Shm::State::join(ShmLink::Side side, std::uint32_t lane, Introduction introduction,
                                             Descriptor socket, const std::string& dialed) {
  auto link = std::make_unique<ShmLink>(side, std::move(introduction.lanes),
                                        std::make_shared<Neighbour>(std::move(introduction.neighbour)),
                                        receivers->bell(), lane, introduction.lane);
  ShmLink* const its = link.get();
  const auto connection = std::make_shared<Connection>(hub, std::move(link));
  its->attach(*connection);
  const int number = socket.number();
  {
    const std::lock_guard lock(mutex);
    open[lane] = {
        .reserved = true, .connection = connection, .link = its, .socket = std::move(socket), .dialed = dialed};
  }
  poller.add(number, lane);
  return connection;
}

void Shm::State::end(std::uint32_t lane, bool by_us) {
  Open ended;
  {
    const std::lock_guard lock(mutex);
    ended = std::exchange(open[lane], {});
    if (ended.socket) poller.remove(ended.socket.number());
  }
  if (ended.connection == nullptr) return;
  if (ended.dialed.empty()) {
    ended.connection->close();
  } else {
    ended.link->receive();  // its last replies
    by_us ? ended.connection->close() : ended.connection->sever();
  }
  ended.link->wake();
  receivers->wake();
}

void Shm::State::receive(std::uint32_t lane) {
  std::shared_ptr<Connection> connection;
  ShmLink* link = nullptr;
  {
    const std::lock_guard lock(mutex);
    if (lane >= open.size()) return;
    connection = open[lane].connection;
    link = open[lane].link;
  }
  if (connection != nullptr) link->receive();
}

}  // namespace lp::internal
