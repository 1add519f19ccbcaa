#include "lp/rpc/link/receivers.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "lp/rpc/link/before_wait.h"

namespace lp::rpc {
namespace {

// The standby checks the receiver at these intervals, less and less often, and then sleeps until more comes for a busy
// one.
constexpr Duration kFirstCheck = std::chrono::microseconds(200);
constexpr Duration kLongestCheck = std::chrono::microseconds(1600);
constexpr int kChecks = 12;
// A handler that has worked for kLong keeps its thread, and the standby takes over. The same holds for a handler that
// is silent for kSilent: it neither works nor announces a wait, so it sleeps in a system call. A handler without a core
// is no reason to use more cores.
constexpr Duration kLong = kFirstCheck / 2;
constexpr Duration kSilent = std::chrono::milliseconds(5);

}  // namespace

struct Receivers::State : std::enable_shared_from_this<State> {
  State(Pool& the_pool, Post& the_post, std::weak_ptr<Source> the_source)
      : pool(the_pool), post(the_post), weak_source(std::move(the_source)) {}

  Pool& pool;
  Post& post;
  const std::weak_ptr<Source> weak_source;
  std::atomic<bool> closing = false;
  std::atomic<bool> has_standby = false;
  std::atomic<std::uint64_t> waiting = 0;  // the number of the receiver whose handler waits
  std::atomic<std::uint64_t> beats = 0;    // handlers that were begun
  std::atomic<WorkClock> clock{};          // clock of the receiver

  // The current thread receives, as receiver `number`, while this lives.
  struct Duty final : private BeforeWait {
    Duty(State& the_state, Source& the_source, std::uint64_t the_number)
        : state(the_state), source(the_source), number(the_number) {
      t_duty = this;
    }
    ~Duty() { t_duty = nullptr; }
    Duty(const Duty&) = delete;
    Duty& operator=(const Duty&) = delete;

    State& state;
    Source& source;
    const std::uint64_t number;

   private:
    void hand_over() noexcept override;
  };
  static thread_local Duty* t_duty;

  enum class Role { receiver, standby };
  void start(Role role, std::uint64_t number);
  void ensure_standby() noexcept;
  void serve(Role role, std::uint64_t number);
  void receive_until_replaced(Source& source, std::uint64_t number);
  std::uint64_t stand_by();
  bool check_receiver(Duration check, Duration& silent);
  void wake_standby() noexcept {
    post.standby = 2;
    unpark(post.standby);
  }
};

thread_local Receivers::State::Duty* Receivers::State::t_duty = nullptr;

void Receivers::State::start(Role role, std::uint64_t number) {
  pool.run([self = shared_from_this(), role, number] { self->serve(role, number); });
}

// If the system has no thread, there is no standby. The next handler tries again.
void Receivers::State::ensure_standby() noexcept {
  if (has_standby.load(std::memory_order_relaxed) || has_standby.exchange(true)) return;
  try {
    start(Role::standby, 0);
  } catch (const std::exception&) {
    has_standby = false;
  }
}

void Receivers::State::serve(Role role, std::uint64_t number) {
  const std::shared_ptr<Source> source = weak_source.lock();
  while (source != nullptr && !closing) {
    if (role == Role::receiver) {
      {
        const Duty duty(*this, *source, number);
        receive_until_replaced(*source, number);
      }
      if (has_standby.exchange(true)) return;
      role = Role::standby;
    } else {
      number = stand_by();
      has_standby = false;
      role = Role::receiver;
      if (number != 0) source->took_over();
    }
  }
}

void Receivers::State::receive_until_replaced(Source& source, std::uint64_t number) {
  clock = work_clock();
  while (!closing) {
    std::uint64_t busy = number << 1 | 1;
    post.receiver = busy;
    source.receive();
    std::uint64_t waited = number;
    waiting.compare_exchange_strong(waited, 0);
    if (!post.receiver.compare_exchange_strong(busy, number << 1)) return;
    if (!closing) source.wait();
  }
}

// Returns the number as which this thread receives from now on; 0 at the end.
std::uint64_t Receivers::State::stand_by() {
  while (!closing) {
    post.standby = 1;
    Duration quiet = kLostWake;
    while (!post.busy() && post.standby.load() == 1 && !closing) {
      park(post.standby, 1, after(quiet));
      quiet = std::min(2 * quiet, kMostLostWake);
    }
    Duration check = kFirstCheck;
    Duration silent{};
    for (int checks = 0; checks < kChecks && !closing; ++checks) {
      std::uint64_t seen = post.receiver.load();
      if (check_receiver(check, silent) && post.receiver.compare_exchange_strong(seen, ((seen >> 1) + 1) << 1)) {
        return (seen >> 1) + 1;
      }
      check = std::min(2 * check, kLongestCheck);
    }
  }
  return 0;
}

// Returns true when another thread must take the receiver's place. `silent` is how long the receiver has been neither
// working nor waiting.
bool Receivers::State::check_receiver(Duration check, Duration& silent) {
  const std::uint64_t seen = post.receiver.load();
  const std::uint64_t beat = beats.load();
  const Duration before = worked(clock);
  const auto waits = [&] { return waiting.load() == seen >> 1; };
  post.standby = 0;
  if (!waits()) park(post.standby, 0, after(check));
  if ((seen & 1) == 0 || post.receiver.load() != seen || (!waits() && beats.load() != beat)) {
    silent = Duration::zero();
    return false;
  }
  silent += check;
  if (waits() || worked(clock) - before >= kLong) return true;
  if (silent < kSilent) return false;
  if (!runnable(clock)) return true;
  silent = Duration::zero();
  return false;
}

Receivers::Receivers(Pool& pool, Post& post, std::weak_ptr<Source> source)
    : state_(std::make_shared<State>(pool, post, std::move(source))) {
  state_->start(State::Role::receiver, 1);
}

void Receivers::close() noexcept {
  if (!state_->closing.exchange(true)) wake();
}

void Receivers::wake() noexcept {
  const std::shared_ptr<Source> source = state_->weak_source.lock();
  if (source == nullptr) return;
  source->wake();
  state_->wake_standby();
}

bool Receivers::on_duty() noexcept {
  const State::Duty* const duty = State::t_duty;
  return duty != nullptr && !duty->state.closing && duty->state.post.receiver.load() == (duty->number << 1 | 1);
}

void Receivers::before_handler(bool more) noexcept {
  if (State::t_duty == nullptr) return;
  State& state = State::t_duty->state;
  state.beats.fetch_add(1, std::memory_order_relaxed);
  state.ensure_standby();
  if (more) state.post.wake_standby();
}

// When the receiver waits, another thread takes its place.
void Receivers::State::Duty::hand_over() noexcept {
  const Source::Successor successor = source.successor();
  if (successor == Source::Successor::none) return;
  state.waiting = number;
  state.ensure_standby();
  if (successor == Source::Successor::now) state.wake_standby();
}

}  // namespace lp::rpc
