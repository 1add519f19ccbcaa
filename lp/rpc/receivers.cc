#include "lp/rpc/receivers.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>

#include "lp/rpc/spin.h"

namespace lp::internal {
namespace {

// A handler that takes longer is left to its thread; the standby looks so often while there is work.
constexpr Duration kLong = std::chrono::microseconds(200);
constexpr int kLooks = 50;  // before the standby sleeps again, until more comes while the receiver is busy
// A process that is stopped while it rings leaves a bell that nobody hears: so often the threads look.
constexpr Duration kLostWake = std::chrono::seconds(1);       // while there is work
constexpr Duration kMostLostWake = std::chrono::seconds(16);  // when there has been none for as long

}  // namespace

bool Bell::take(std::uint32_t& lane) noexcept {
  for (std::uint64_t left = any.load(); left != 0; left &= left - 1) {
    const auto word = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint64_t bits = words[word].load();
    if (bits != 0) {
      const std::uint64_t bit = bits & -bits;
      lane = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bit));
      if ((words[word].fetch_and(~bit) & ~bit) != 0) return true;
    }
    any.fetch_and(~(std::uint64_t{1} << word));
    if (words[word].load() != 0) any.fetch_or(std::uint64_t{1} << word);  // marked in between
    if (bits != 0) return true;
  }
  return false;
}

struct Receivers::State : std::enable_shared_from_this<State> {
  State(Pool& the_pool, Function<void(std::uint32_t)> the_receive)
      : pool(the_pool),
        receive(std::move(the_receive)),
        memory(std::make_shared<const SharedMemory>(SharedMemory::create("lp-bell", sizeof(Bell)))),
        bell(*::new (memory->data()) Bell) {}

  Pool& pool;
  Function<void(std::uint32_t)> receive;
  const std::shared_ptr<const SharedMemory> memory;
  Bell& bell;
  std::atomic<std::uint32_t> lanes = 0;
  std::atomic<bool> closing = false;
  std::atomic<bool> has_standby = false;
  std::atomic<std::uint64_t> waiting = 0;  // the number of the receiver whose handler waits
  std::atomic<std::uint64_t> beats = 0;

  // For whom the current thread receives, and as which receiver.
  struct Duty {
    State* state = nullptr;
    std::uint64_t number = 0;
  };
  static thread_local Duty t_duty;

  enum class Role { receiver, standby };
  void start(Role role, std::uint64_t number);
  void ensure_standby() noexcept;
  void serve(Role role, std::uint64_t number);
  void receive_until_replaced(std::uint64_t number);
  bool receive_marked(std::uint64_t number);
  std::uint64_t stand_by();
  void wake_all() {
    bell.asleep = 0;
    unpark(bell.asleep);
    bell.standby = 2;
    unpark(bell.standby);
  }
};

thread_local Receivers::State::Duty Receivers::State::t_duty;

void Receivers::State::start(Role role, std::uint64_t number) {
  pool.run([self = shared_from_this(), role, number] { self->serve(role, number); });
}

// Without a thread to be had there is none, and it is tried again with the next lane.
void Receivers::State::ensure_standby() noexcept {
  if (has_standby.load(std::memory_order_relaxed) || has_standby.exchange(true)) return;
  try {
    start(Role::standby, 0);
  } catch (const std::exception&) {
    has_standby = false;
  }
}

void Receivers::State::serve(Role role, std::uint64_t number) {
  while (!closing) {
    if (role == Role::receiver) {
      t_duty = {.state = this, .number = number};
      receive_until_replaced(number);
      t_duty = {};
      if (has_standby.exchange(true)) return;
      role = Role::standby;
    } else {
      number = stand_by();
      has_standby = false;
      role = Role::receiver;
    }
  }
}

void Receivers::State::receive_until_replaced(std::uint64_t number) {
  Spin spin;
  Duration quiet = kLostWake;
  while (!closing) {
    bell.receiver = number << 1 | 1;
    if (!receive_marked(number)) return;
    if (spin.until([this] { return bell.any.load(std::memory_order_relaxed) != 0; })) continue;
    bell.asleep = 1;
    const bool rung = bell.any.load() != 0 || closing || park(bell.asleep, 1, after(quiet));
    quiet = rung ? kLostWake : std::min(2 * quiet, kMostLostWake);
    bell.asleep = 0;
  }
}

// False when another thread receives now.
bool Receivers::State::receive_marked(std::uint64_t number) {
  std::uint64_t mine = number << 1 | 1;
  std::uint32_t lane = 0;
  while (!closing && bell.take(lane)) {
    ensure_standby();  // whatever it runs may take long, or wait
    if (bell.any.load() != 0) bell.wake_standby();
    receive(lane);
    if (bell.receiver.load() != mine) return false;
  }
  std::uint64_t expected = number;
  waiting.compare_exchange_strong(expected, 0);
  return bell.receiver.compare_exchange_strong(mine, number << 1);
}

// The number as which this thread receives from now on.
std::uint64_t Receivers::State::stand_by() {
  while (!closing) {
    bell.standby = 1;
    Duration quiet = kLostWake;
    while ((bell.receiver.load() & 1) == 0 && bell.standby.load() == 1 && !closing) {
      park(bell.standby, 1, after(quiet));
      quiet = std::min(2 * quiet, kMostLostWake);
    }
    for (int looks = 0; looks < kLooks && !closing; ++looks) {
      std::uint64_t seen = bell.receiver.load();
      const std::uint64_t beat = beats.load();
      const auto waits = [&] { return waiting.load() == seen >> 1; };
      bell.standby = 0;
      if (!waits()) park(bell.standby, 0, after(kLong));
      const bool stuck = (seen & 1) != 0 && (waits() || beats.load() == beat);
      if (stuck && bell.receiver.compare_exchange_strong(seen, ((seen >> 1) + 1) << 1)) {
        for (std::uint32_t lane = 0; lane < lanes.load(); ++lane) bell.mark(lane);
        return (seen >> 1) + 1;
      }
    }
  }
  return 0;
}

Receivers::Receivers(Pool& pool, Function<void(std::uint32_t)> receive)
    : state_(std::make_shared<State>(pool, std::move(receive))) {
  state_->start(State::Role::receiver, 1);
}

Receivers::~Receivers() { close(); }

void Receivers::close() {
  state_->closing = true;
  state_->wake_all();
}

std::shared_ptr<const SharedMemory> Receivers::bell() const { return state_->memory; }
void Receivers::expect(std::uint32_t lanes) { state_->lanes = std::max(state_->lanes.load(), lanes); }
void Receivers::wake() { state_->wake_all(); }

void Receivers::before_handler(bool more) noexcept {
  if (State::t_duty.state == nullptr) return;
  State& state = *State::t_duty.state;
  state.beats.fetch_add(1, std::memory_order_relaxed);
  if (more) state.bell.wake_standby();
}

void Receivers::before_wait() noexcept {
  if (State::t_duty.state == nullptr) return;
  State& state = *State::t_duty.state;
  state.waiting = State::t_duty.number;
  if (state.bell.any.load() == 0) return;
  state.bell.standby = 2;
  unpark(state.bell.standby);
}

}  // namespace lp::internal
