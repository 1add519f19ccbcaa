#include "lp/rpc/followers.h"

#include <atomic>
#include <utility>

namespace lp::internal {
namespace {

constexpr Duration kLong = std::chrono::microseconds(300);  // a handler that takes longer is left to its thread
constexpr int kLooks = 50;  // of the standby, without a handler in between, before it sleeps

}  // namespace

struct Followers::State : std::enable_shared_from_this<State> {
  State(Pool& the_pool, int the_descriptor, Function<void()> the_receive)
      : pool(the_pool), descriptor(the_descriptor), receive(std::move(the_receive)) {
    poller.add(descriptor, 0);
  }

  Pool& pool;
  const int descriptor;
  Function<void()> receive;
  Poller poller;  // the leader's
  std::atomic<bool> closing = false;
  std::atomic<bool> has_standby = false;
  // The upper bits tell which thread leads, the lowest one that it runs a handler.
  std::atomic<std::uint64_t> leader = 1 << 1;
  std::atomic<std::uint64_t> waiting = 0;  // the leader whose handler waits
  std::atomic<std::uint64_t> handlers = 0;
  // What the standby sleeps on: until there are handlers, a little while, or not at all.
  enum : std::uint32_t { kAsleep, kLooking, kCalled };
  Word standby = kLooking;

  // Which leader the current thread is.
  struct Duty {
    State* state = nullptr;
    std::uint64_t number = 0;
  };
  static thread_local Duty t_duty;

  enum class Role { leader, standby };
  void start(Role role);
  void serve(Role role);
  void lead(std::uint64_t number);
  bool stand_by();
  void call(std::uint32_t how) {
    standby = how;
    unpark(standby);
  }
};

thread_local Followers::State::Duty Followers::State::t_duty;

void Followers::State::start(Role role) {
  pool.run([self = shared_from_this(), role] { self->serve(role); });
}

void Followers::State::serve(Role role) {
  while (!closing) {
    if (role == Role::leader) {
      lead(leader.load() >> 1);
      if (has_standby.exchange(true)) return;
      role = Role::standby;
    } else if (stand_by()) {
      has_standby = false;
      role = Role::leader;
    }
  }
}

void Followers::State::lead(std::uint64_t number) {
  t_duty = {.state = this, .number = number};
  Poller::Ready ready;
  while (!closing && leader.load() == number << 1) {
    receive();
    if (closing || leader.load() != number << 1) break;
    poller.wait(std::span(&ready, 1), kNever);
  }
  t_duty = {};
}

// True when this thread leads from now on.
bool Followers::State::stand_by() {
  std::uint32_t asked = kLooking;
  if (standby.compare_exchange_strong(asked, kAsleep)) {
    while ((leader.load() & 1) == 0 && standby.load() == kAsleep && !closing) park(standby, kAsleep);
    asked = kAsleep;
    standby.compare_exchange_strong(asked, kLooking);
  }
  for (int looks = 0; looks < kLooks && !closing; ++looks) {
    std::uint64_t seen = leader.load();
    const std::uint64_t before = handlers.load();
    std::uint32_t called = kCalled;
    if (!standby.compare_exchange_strong(called, kLooking)) park(standby, kLooking, after(kLong));
    const bool stuck = (seen & 1) != 0 && (handlers.load() == before || waiting.load() == seen >> 1);
    if (stuck && leader.compare_exchange_strong(seen, ((seen >> 1) + 1) << 1)) return true;
    if (handlers.load() != before) looks = 0;
  }
  return false;
}

Followers::Followers(Pool& pool, int descriptor, Function<void()> receive)
    : state_(std::make_shared<State>(pool, descriptor, std::move(receive))) {
  state_->start(State::Role::leader);
}

void Followers::close() noexcept {
  state_->closing = true;
  state_->call(State::kCalled);
  state_->poller.wake();
}

void Followers::wake() { state_->poller.wake(); }

void Followers::run(const Runnable& handler) {
  State& state = *state_;
  std::uint64_t number = State::t_duty.number;
  std::uint64_t idle = number << 1;
  if (State::t_duty.state != &state || !state.leader.compare_exchange_strong(idle, idle | 1)) {
    handler.run();  // another leads already
    return;
  }
  state.handlers.fetch_add(1, std::memory_order_relaxed);
  if (state.standby.load() == State::kAsleep) state.call(State::kLooking);
  if (!state.has_standby.load(std::memory_order_relaxed) && !state.has_standby.exchange(true)) {
    state.start(State::Role::standby);
  }
  handler.run();
  state.waiting.compare_exchange_strong(number, 0);
  std::uint64_t busy = idle | 1;
  state.leader.compare_exchange_strong(busy, idle);
}

void Followers::watch(bool on) { state_->poller.change(state_->descriptor, 0, /*writable=*/false, /*readable=*/on); }

void Followers::before_wait() noexcept {
  if (State::t_duty.state == nullptr) return;
  State& state = *State::t_duty.state;
  if (state.leader.load() != (State::t_duty.number << 1 | 1)) return;
  state.waiting = State::t_duty.number;
  state.call(State::kCalled);
}

}  // namespace lp::internal
