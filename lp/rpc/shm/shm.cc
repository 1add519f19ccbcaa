#include "lp/rpc/shm/shm.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "lp/base/secret.h"
#include "lp/base/shared_heap.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/link/receivers.h"
#include "lp/rpc/shm/handshake.h"
#include "lp/rpc/shm/shm_link.h"
#include "lp/rpc/shm/spin.h"

namespace lp::rpc {
namespace {

constexpr Duration kAnswer = std::chrono::seconds(3);  // a process takes this long to answer on a busy machine
constexpr Duration kNoDescriptors = std::chrono::milliseconds(100);  // wait before the next attempt
// Connections that have not been introduced yet. When there are more, the oldest one must have introduced itself by
// now, or it is dropped.
constexpr std::size_t kMostUnknown = 64;
// A link may handle this many messages, for at most this time, before the others have their turn.
constexpr std::size_t kAtOnce = 256;
constexpr Duration kInTurn = std::chrono::microseconds(500);

}  // namespace

struct Shm::State final : Receivers::Source {
  explicit State(LocalProcess& the_process)
      : process(the_process),
        heap(SharedHeap::use(the_process.options().run.shared_memory)),
        listening(listen_locally(name)),
        bell_memory(std::make_shared<const SharedMemory>(SharedMemory::create("lp-bell", sizeof(Doorbell)))),
        bell(*::new (bell_memory->data()) Doorbell) {}

  // A link. Its position in `open` is its lane at our bell.
  struct Open {
    std::uint64_t tag = 0;  // unique to this link; 0: the lane is free
    std::shared_ptr<Connection> connection{};
    ShmLink* link = nullptr;  // link of the connection
    Descriptor socket{};
    std::string dialed{};  // the name, if this side dialed
  };

  struct Reserved {
    std::uint32_t lane = 0;
    std::uint64_t tag = 0;
  };
  // A process that was dialed, until it answers.
  struct Dial {
    std::string name{};
    Reserved place{};
    Time deadline{};
    std::vector<Dialed> waiting{};
    Descriptor socket{};
    SharedMemory lanes{};
  };

  static constexpr std::uint64_t kListening = 1;  // tags of the poller: this one, one of `open`, or one of `unknown`

  LocalProcess& process;
  SharedHeap& heap;
  const std::string name = secret_text(16);
  const Descriptor listening;
  const std::shared_ptr<const SharedMemory> bell_memory;
  Doorbell& bell;
  std::unique_ptr<Receivers> receivers;
  std::atomic<std::uint32_t> last_lane = 0;  // the lane that was received from last
  std::atomic<bool> woken = false;
  Spin spin;                              // used by the receiver
  Duration quiet = Receivers::kLostWake;  // used by the receiver
  std::mutex mutex;
  std::deque<Open> open;
  std::deque<Dial> dials;  // oldest first
  bool closing = false;
  Poller poller;
  std::deque<std::pair<std::uint64_t, Descriptor>> unknown;  // used by `thread` only
  std::atomic<std::uint64_t> next_tag = kListening + 1;
  Thread thread;

  void serve();
  bool accept();
  bool admit(std::uint64_t tag);
  void introduce(const std::string& to, Reserved place);
  bool answered(std::uint64_t tag);
  void end_dial(std::uint64_t tag, const Error& error);
  Time end_late_dials();
  Dial* find_dial(std::uint64_t tag);                   // caller holds the lock
  std::vector<Dialed> take_waiting(std::uint64_t tag);  // caller holds the lock
  Reserved reserve();                                   // caller holds the lock
  std::shared_ptr<Connection> join(ShmLink::Side side, Reserved place, Introduction introduction, Descriptor socket,
                                   const std::string& dialed);
  void end(std::uint64_t tag, bool by_us = true);
  void receive_from(std::uint32_t place);
  void receive() override;
  void wait() override;
  void wake() noexcept override;
  Successor successor() const noexcept override { return has_more() ? Successor::now : Successor::when_rung; }
  bool has_more() const noexcept { return bell.any.load() != 0; }
  void took_over() override;
};

Shm::Shm(LocalProcess& process) : state_(std::make_shared<State>(process)) {
  state_->receivers =
      std::make_unique<Receivers>(process.pool(), state_->bell.post, std::weak_ptr<Receivers::Source>(state_));
  try {
    state_->poller.add(state_->listening.number(), State::kListening);
    state_->thread = spawn("shm", [state = state_.get()] { state->serve(); });
  } catch (...) {
    close();  // the receiver keeps the state, and waits
    throw;
  }
}

Shm::~Shm() { close(); }

const std::string& Shm::name() const { return state_->name; }

void Shm::dial(const std::string& name, Dialed dialed) {
  State& state = *state_;
  State::Reserved place;
  try {
    std::shared_ptr<Connection> connection;
    {
      const std::lock_guard lock(state.mutex);
      for (const State::Open& one : state.open) {
        if (one.connection != nullptr && one.dialed == name && one.connection->open()) connection = one.connection;
      }
      const auto dial = std::find_if(state.dials.begin(), state.dials.end(),
                                     [&name](const State::Dial& one) { return one.name == name; });
      if (connection == nullptr && dial != state.dials.end()) return dial->waiting.push_back(std::move(dialed));
      if (connection == nullptr) {
        place = state.reserve();
        state.dials.push_back({.name = name, .place = place, .deadline = after(kAnswer)});
        state.dials.back().waiting.push_back(std::move(dialed));
      }
    }
    if (connection != nullptr) return dialed(connection, nullptr);  // NOLINT: not moved where there is one
    state.introduce(name, place);
  } catch (const Error& error) {
    place.tag == 0 ? dialed(nullptr, &error) : state.end_dial(place.tag, error);
  }
}

void Shm::hang_up(const std::string& name) {
  std::vector<std::uint64_t> tags;
  {
    const std::lock_guard lock(state_->mutex);
    for (const State::Open& one : state_->open) {
      if (!name.empty() && one.dialed == name) tags.push_back(one.tag);
    }
    for (const State::Dial& one : state_->dials) {
      if (one.name == name) tags.push_back(one.place.tag);
    }
    std::erase_if(state_->dials, [&name](const State::Dial& one) { return one.name == name; });
  }
  for (const std::uint64_t tag : tags) state_->end(tag);
}

void Shm::close() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->closing) return;
    state_->closing = true;
  }
  state_->poller.wake();
  state_->thread = Thread();
  std::vector<std::uint64_t> tags;
  {
    const std::lock_guard lock(state_->mutex);
    for (const State::Open& one : state_->open) tags.push_back(one.tag);
    state_->dials.clear();
  }
  for (const std::uint64_t tag : tags) state_->end(tag);
  state_->receivers->close();
}

void Shm::State::serve() {
  std::array<Poller::Ready, 64> ready;
  bool listens = true;
  for (;;) {
    const Time late = end_late_dials();
    const std::size_t count = poller.wait(ready, listens ? late : std::min(late, after(kNoDescriptors)));
    {
      const std::lock_guard lock(mutex);
      if (closing) return;
    }
    if (!listens) poller.add(listening.number(), kListening);
    listens = true;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t tag = ready[i].tag;
      if (tag != kListening) {
        // After the introduction, only the end of the connection follows.
        if (!admit(tag) && !answered(tag)) end(tag, /*by_us=*/false);
      } else if (!accept()) {
        poller.remove(listening.number());  // others wait, or use TCP
        listens = false;
      }
    }
  }
}

// Accepts connections. Returns false when this process has no descriptor for another one.
bool Shm::State::accept() {
  try {
    while (std::optional<Descriptor> accepted = accept_neighbour(listening)) {
      unknown.emplace_back(next_tag++, std::move(*accepted));
      poller.add(unknown.back().second.number(), unknown.back().first);
      if (unknown.size() > kMostUnknown) admit(unknown.front().first);
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

// Admits a process that has connected. Returns false when the tag is none of `unknown`.
bool Shm::State::admit(std::uint64_t tag) {
  Descriptor socket;
  for (auto one = unknown.begin(); one != unknown.end(); ++one) {
    if (one->first != tag) continue;
    socket = std::move(one->second);
    unknown.erase(one);
    break;
  }
  if (!socket) return false;
  poller.remove(socket.number());
  Reserved place;
  try {
    Introduction introduction = receive_memory(socket, /*dialed=*/true);
    {
      const std::lock_guard lock(mutex);
      place = reserve();
    }
    const int number = socket.number();
    const auto connection = join(ShmLink::Side::dialed, place, std::move(introduction), std::move(socket), "");
    send_memory(number, place.lane, nullptr, *bell_memory, heap.memory());
  } catch (const std::exception&) {
    process.count_refusal();
    end(place.tag);
  }
  return true;
}

// Sends the first message to a process that is dialed.
void Shm::State::introduce(const std::string& to, Reserved place) {
  Descriptor socket = connect_locally(to);
  SharedMemory lanes = SharedMemory::create("lp-lanes", sizeof(RingPair));
  ::new (lanes.data()) RingPair;  // its rings stay untouched
  send_memory(socket.number(), place.lane, &lanes, *bell_memory, heap.memory());
  const std::lock_guard lock(mutex);
  Dial* const dial = find_dial(place.tag);
  if (dial == nullptr) return;
  dial->lanes = std::move(lanes);
  dial->socket = std::move(socket);
  poller.add(dial->socket.number(), place.tag);
  poller.wake();  // so that the thread sees the deadline
}

// Takes the answer of a process that was dialed. Returns false when the tag is no such process.
bool Shm::State::answered(std::uint64_t tag) {
  Dial answering{};
  {
    const std::lock_guard lock(mutex);
    Dial* const dial = find_dial(tag);
    if (dial == nullptr) return false;
    answering = {
        .name = dial->name, .place = dial->place, .socket = std::move(dial->socket), .lanes = std::move(dial->lanes)};
  }
  poller.remove(answering.socket.number());
  try {
    Introduction introduction = receive_memory(answering.socket, /*dialed=*/false);
    introduction.lanes = std::move(answering.lanes);
    const auto connection = join(ShmLink::Side::dialer, answering.place, std::move(introduction),
                                 std::move(answering.socket), answering.name);
    connection->greet();
    std::vector<Dialed> waiting;
    {
      const std::lock_guard lock(mutex);
      waiting = take_waiting(tag);
    }
    if (waiting.empty()) end(tag);  // it was hung up meanwhile
    for (Dialed& one : waiting) one(connection, nullptr);
  } catch (const Error& error) {
    end_dial(tag, error);
  }
  return true;
}

void Shm::State::end_dial(std::uint64_t tag, const Error& error) {
  std::vector<Dialed> waiting;
  {
    const std::lock_guard lock(mutex);
    waiting = take_waiting(tag);
  }
  end(tag);
  for (Dialed& one : waiting) one(nullptr, &error);
}

// Returns the time of the next check.
Time Shm::State::end_late_dials() {
  for (;;) {
    std::uint64_t late = 0;
    {
      const std::lock_guard lock(mutex);
      if (dials.empty()) return kNever;
      if (!passed(dials.front().deadline)) return dials.front().deadline;
      late = dials.front().place.tag;
    }
    end_dial(late, Error(ErrorKind::failed, "shared memory: the other process does not answer"));
  }
}

Shm::State::Dial* Shm::State::find_dial(std::uint64_t tag) {
  const auto found = std::find_if(dials.begin(), dials.end(), [tag](const Dial& one) { return one.place.tag == tag; });
  return found == dials.end() ? nullptr : &*found;
}

std::vector<Shm::Dialed> Shm::State::take_waiting(std::uint64_t tag) {
  std::vector<Dialed> waiting;
  std::erase_if(dials, [&](Dial& one) {
    if (one.place.tag != tag) return false;
    waiting = std::move(one.waiting);
    return true;
  });
  return waiting;
}

Shm::State::Reserved Shm::State::reserve() {
  if (closing) throw Error(ErrorKind::stopped, "the run ends");
  Reserved place;
  while (place.lane < open.size() && open[place.lane].tag != 0) ++place.lane;
  if (place.lane == Doorbell::kLanes) {
    throw Error(ErrorKind::failed, "shared memory: " + std::to_string(Doorbell::kLanes) +
                                       " connections are the most that one process can have");
  }
  if (place.lane == open.size()) open.emplace_back();
  open[place.lane].tag = place.tag = next_tag++;
  return place;
}

std::shared_ptr<Connection> Shm::State::join(ShmLink::Side side, Reserved place, Introduction introduction,
                                             Descriptor socket, const std::string& dialed) {
  auto link = std::make_unique<ShmLink>(process.pool(), side, std::move(introduction.lanes),
                                        std::make_shared<Neighbour>(std::move(introduction.neighbour)), bell_memory,
                                        place.lane, introduction.lane);
  ShmLink* const its = link.get();
  auto connection = std::make_shared<Connection>(process, std::move(link));
  its->attach(*connection);
  const int number = socket.number();
  {
    const std::lock_guard lock(mutex);
    open[place.lane] = {
        .tag = place.tag, .connection = connection, .link = its, .socket = std::move(socket), .dialed = dialed};
    poller.add(number, place.tag);
  }
  return connection;
}

void Shm::State::end(std::uint64_t tag, bool by_us) {
  Open ended;
  {
    const std::lock_guard lock(mutex);
    const auto found = std::find_if(open.begin(), open.end(), [tag](const Open& one) { return one.tag == tag; });
    if (tag == 0 || found == open.end()) return;  // another thread was faster
    ended = std::exchange(*found, {});
    if (ended.socket) poller.remove(ended.socket.number());
  }
  if (ended.connection == nullptr) return;
  if (ended.dialed.empty()) {
    ended.connection->close();
  } else {
    ended.link->receive(Handlers::in_pool);  // handles its last replies
    by_us ? ended.connection->close() : ended.connection->sever();
  }
  ended.link->forget_neighbour();
  ended.link->wake();
  receivers->wake();
}

void Shm::State::receive() {
  for (std::uint32_t lane = last_lane; bell.take(lane);) {
    last_lane = lane;
    Receivers::before_handler(has_more());
    receive_from(lane);
    if (!Receivers::on_duty()) return;
  }
}

void Shm::State::receive_from(std::uint32_t place) {
  std::shared_ptr<Connection> connection;
  ShmLink* link = nullptr;
  {
    const std::lock_guard lock(mutex);
    if (place >= open.size()) return;
    connection = open[place].connection;
    link = open[place].link;
  }
  if (connection == nullptr) return;
  const Time end = after(kInTurn);
  bool more = true;
  while (more && Receivers::on_duty()) {
    more = link->receive(Handlers::here, kAtOnce) == kAtOnce;
    if (more && passed(end)) break;
  }
  if (more) bell.ring(place);  // the thread that has taken this one's place may sleep
  if (connection->open()) return;
  // The connection was refused. Both sides learn that from the socket, and end the link.
  const std::lock_guard lock(mutex);
  if (open[place].connection == connection) shutdown(open[place].socket.number(), SHUT_RDWR);
}

void Shm::State::wait() {
  if (spin.until([this] { return bell.any.load(std::memory_order_relaxed) != 0; })) return;
  bell.asleep = 1;
  const bool rung = has_more() || woken.exchange(false) || park(bell.asleep, 1, after(quiet));
  if (rung) spin.came_later();
  quiet = rung ? Receivers::kLostWake : std::min(2 * quiet, Receivers::kMostLostWake);
  bell.asleep = 0;
}

void Shm::State::wake() noexcept {
  woken = true;
  bell.asleep = 0;
  unpark(bell.asleep);
}

void Shm::State::took_over() {
  const std::lock_guard lock(mutex);
  for (std::uint32_t one = 0; one < open.size(); ++one) bell.mark(one);
}

}  // namespace lp::rpc
