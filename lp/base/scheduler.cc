#include "lp/base/scheduler.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/signal_stack.h"

namespace lp {
namespace {

// How long a thread of a pool waits for more work before it ends.
constexpr auto kPoolIdle = std::chrono::seconds(5);

constexpr Duration kFar = std::chrono::seconds(1);
constexpr Duration kTick = std::chrono::milliseconds(10);  // the coarse clock is late by less than this

Time coarse_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return Time(std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec));
}

timespec to_timespec(Duration duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return {.tv_sec = seconds.count(), .tv_nsec = (duration - seconds).count()};
}

template <class Lock>
void wait_until(std::condition_variable& condition, Lock& lock, Time time) {
  if (time == kNever) {
    condition.wait(lock);
  } else {
    condition.wait_until(lock, time);
  }
}

void set_name(const std::string& name) {
  // The kernel keeps 15 characters, and the end of a node's name distinguishes it better than the beginning.
  pthread_setname_np(pthread_self(), name.size() > 15 ? name.c_str() + (name.size() - 15) : name.c_str());
}

[[noreturn]] void no_thread(const std::system_error& error) {
  throw Error(ErrorKind::failed, std::string("cannot start a thread: ") + error.what() +
                                     ": raise the limit, which is `ulimit -u`, /proc/sys/kernel/threads-max or the "
                                     "container's pids.max, or run fewer nodes on a host");
}

[[noreturn]] void no_descriptor(const char* what) {
  throw Error(ErrorKind::failed, std::string(what) + ": " + std::strerror(errno) +
                                     (errno == EMFILE ? "; the limit is `ulimit -n`: raise it" : ""));
}

}  // namespace

Time now() noexcept { return std::chrono::steady_clock::now(); }

Time about_now() noexcept { return coarse_now(); }

Time after(Duration duration) noexcept { return later(duration >= kFar ? coarse_now() + kTick : now(), duration); }

Time later(Time time, Duration duration) noexcept { return duration >= kNever - time ? kNever : time + duration; }

Duration from_seconds(double seconds) noexcept {
  const double nanoseconds = seconds * 1e9;
  const double most = static_cast<double>(kForever.count());
  if (nanoseconds <= -most) return -kForever;
  return nanoseconds < most ? Duration(static_cast<Duration::rep>(nanoseconds)) : kForever;
}

double to_seconds(Duration duration) noexcept { return std::chrono::duration<double>(duration).count(); }

Duration until(Time time) noexcept {
  if (time == kNever) return kForever;
  if (const Duration left = time - coarse_now(); left >= kFar) return left;
  return std::max(time - now(), Duration::zero());
}

bool passed(Time time) noexcept { return time - coarse_now() < kFar && now() >= time; }

std::int64_t wall_clock() noexcept {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()).count();
}

bool park(Word& word, std::uint32_t value, Time time) noexcept {
  timespec timeout{};
  if (time != kNever) {
    const Duration left = until(time);
    if (left == Duration::zero()) return false;
    timeout = to_timespec(left);
  }
  // The futex is not private: the other side may be another process.
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT, value, time == kNever ? nullptr : &timeout, nullptr, 0);
  return result == 0 || errno != ETIMEDOUT;
}

void unpark(Word& word, int threads) noexcept { syscall(SYS_futex, &word, FUTEX_WAKE, threads, nullptr, nullptr, 0); }

namespace internal {
constinit thread_local int t_thread_id = 0;
int find_thread_id() noexcept { return t_thread_id = gettid(); }
}  // namespace internal

WorkClock work_clock() noexcept {
  WorkClock clock{.thread = thread_id()};
  pthread_getcpuclockid(pthread_self(), &clock.clock);
  return clock;
}

Duration worked(WorkClock clock) noexcept {
  timespec time{};
  clock_gettime(clock.clock, &time);
  return std::chrono::seconds(time.tv_sec) + Duration(time.tv_nsec);
}

bool runnable(WorkClock clock) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/stat", clock.thread);
  const int file = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 128> text{};  // "TID (NAME) STATE ...", with a name of 15 characters, which may be anything
  const ssize_t size = read(file, text.data(), text.size());
  close(file);
  const std::string_view stat(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const std::size_t state = stat.rfind(')') + 2;
  return state < stat.size() && stat[state] == 'R';
}

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void step_aside() noexcept { std::this_thread::yield(); }

bool Event::wait(Time time) noexcept {
  for (;;) {
    std::uint32_t seen = kSet;
    if (word_.compare_exchange_strong(seen, kEmpty, std::memory_order_acquire)) return true;
    // This overwrites any other value that another process may have written there.
    if (seen != kWaiting && !word_.compare_exchange_strong(seen, kWaiting)) continue;
    if (sleep(time)) continue;
    seen = kWaiting;
    if (word_.compare_exchange_strong(seen, kEmpty, std::memory_order_acquire)) return false;
  }
}

bool Event::sleep(Time time) noexcept {
  if (poller_ == nullptr) return park(word_, kWaiting, time);
  Poller::Ready ready;
  if (poller_->wait(std::span(&ready, 1), time) > 0) {
    word_ = kSet;
    return true;
  }
  return time == kNever || now() < time;
}

void Event::set() noexcept {
  Poller* const poller = poller_;
  if (poller == nullptr) {
    set(word_);
  } else if (word_.exchange(kSet) == kWaiting) {
    poller->wake();
  }
}

void Event::set(Word& word) noexcept {
  // As soon as the word is set, the waiter may be gone, and the word with it. The wake then finds nobody, which is
  // harmless.
  if (word.exchange(kSet) == kWaiting) unpark(word);
}

struct Thread::State {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
};

Thread::Thread(Thread&& other) noexcept = default;

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this != &other) {
    if (joinable()) join();
    state_ = std::move(other.state_);
  }
  return *this;
}

Thread::~Thread() {
  if (joinable()) join();
}

void Thread::join() { join_until(kNever); }

bool Thread::join_until(Time time) {
  if (!joinable()) return true;
  {
    std::unique_lock lock(state_->mutex);
    while (!state_->done) {
      if (time != kNever && now() >= time) return false;
      wait_until(state_->ended, lock, time);
    }
  }
  state_.reset();
  return true;
}

void Thread::abandon() noexcept { state_.reset(); }

Thread spawn(std::string name, Function<void()> body) {
  auto state = std::make_shared<Thread::State>();
  try {
    std::thread([state, name = std::move(name), body = std::move(body)]() mutable {
      const internal::SignalStack signal_stack;
      set_name(name);
      body();
      body = nullptr;  // destroys the closure's objects before the joiner goes on
      const std::lock_guard lock(state->mutex);
      state->done = true;
      state->ended.notify_all();
    }).detach();
  } catch (const std::system_error& error) {
    no_thread(error);
  }
  Thread thread;  // there is one to join
  thread.state_ = std::move(state);
  return thread;
}

void check_threads(int count) {
  std::vector<pid_t> ids(static_cast<std::size_t>(count));
  try {
    std::mutex gate;
    std::vector<std::jthread> trials;
    const std::lock_guard closed(gate);
    for (pid_t& id : ids) {
      trials.emplace_back([&gate, &id] {
        id = gettid();
        const std::lock_guard wait(gate);
      });
    }
  } catch (const std::system_error& error) {
    no_thread(error);
  }
  // The threads have ended, but they count until the kernel has forgotten them, too.
  for (const pid_t id : ids) {
    while (tgkill(getpid(), id, 0) == 0) std::this_thread::yield();
  }
}

struct Pool::State {
  std::string name;
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable quiet;
  std::deque<Function<void()>> tasks;
  std::size_t idle = 0;     // threads that wait for work
  std::size_t threads = 0;  // all threads
  bool ending = false;

  void serve(Function<void()> task) {
    const internal::SignalStack signal_stack;
    set_name(name);
    for (;;) {
      if (task) {
        task();
        task = nullptr;
      }
      std::unique_lock lock(mutex);
      ++idle;
      if (idle == threads && tasks.empty()) quiet.notify_all();
      const bool more = work.wait_for(lock, kPoolIdle, [this] { return !tasks.empty() || ending; }) && !tasks.empty();
      --idle;
      if (!more) {
        --threads;
        quiet.notify_all();
        return;
      }
      task = std::move(tasks.front());
      tasks.pop_front();
    }
  }
};

Pool::Pool(std::string name) : state_(std::make_shared<State>()) { state_->name = std::move(name); }

Pool::~Pool() {
  if (state_ == nullptr) return;
  std::unique_lock lock(state_->mutex);
  state_->ending = true;
  state_->work.notify_all();
  state_->quiet.wait(lock, [this] { return state_->threads == 0; });
}

void Pool::run(Function<void()> task) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->idle > state_->tasks.size()) {
      state_->tasks.push_back(std::move(task));
      state_->work.notify_one();
      return;
    }
    ++state_->threads;
  }
  try {
    std::thread([state = state_, task = std::move(task)]() mutable { state->serve(std::move(task)); }).detach();
  } catch (const std::exception& error) {
    {
      const std::lock_guard lock(state_->mutex);
      --state_->threads;
    }
    if (const auto* const system = dynamic_cast<const std::system_error*>(&error)) no_thread(*system);
    throw;
  }
}

bool Pool::drain(Time time) {
  std::unique_lock lock(state_->mutex);
  while (state_->idle != state_->threads || !state_->tasks.empty()) {
    if (time != kNever && now() >= time) return false;
    wait_until(state_->quiet, lock, time);
  }
  return true;
}

void Pool::abandon() noexcept { state_.reset(); }

struct Timers::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<Time, Id>, Function<void()>> waiting;
  std::unordered_map<Id, Time> times;
  Id next = 0;
  bool ending = false;
  Thread thread;  // declared last: it uses all of the above

  // The caller holds the lock.
  void start() {
    if (!thread.joinable()) thread = spawn("timers", [this] { serve(); });
  }
  void serve() {
    std::unique_lock lock(mutex);
    while (!ending) {
      if (waiting.empty()) {
        changed.wait(lock);
      } else if (const auto first = waiting.begin(); first->first.first > now()) {
        wait_until(changed, lock, first->first.first);
      } else {
        Function<void()> function = std::move(first->second);
        times.erase(first->first.second);
        waiting.erase(first);
        lock.unlock();
        function();
        function = nullptr;
        lock.lock();
      }
    }
  }
};

Timers::Timers() : state_(std::make_unique<State>()) {}

Timers::~Timers() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    state_->changed.notify_all();
  }
  state_->thread = Thread();
}

void Timers::start() {
  const std::lock_guard lock(state_->mutex);
  state_->start();
}

Timers::Id Timers::at(Time time, Function<void()> function) {
  const std::lock_guard lock(state_->mutex);
  state_->start();
  const Id id = ++state_->next;
  const auto [place, added] = state_->waiting.emplace(std::pair(time, id), std::move(function));
  state_->times.emplace(id, time);
  if (place == state_->waiting.begin()) state_->changed.notify_all();
  return id;
}

bool Timers::cancel(Id id) {
  Function<void()> cancelled;  // destroyed outside the lock
  const std::lock_guard lock(state_->mutex);
  const auto time = state_->times.find(id);
  if (time == state_->times.end()) return false;
  const auto place = state_->waiting.find(std::pair(time->second, id));
  cancelled = std::move(place->second);
  state_->waiting.erase(place);
  state_->times.erase(time);
  return true;
}

namespace {
constexpr std::uint64_t kWakeTag = ~std::uint64_t{0};

void control(int epoll, int operation, int fd, std::uint64_t tag, std::uint32_t events) {
  epoll_event event{.events = events, .data = {.u64 = tag}};
  if (epoll_ctl(epoll, operation, fd, &event) != 0) no_descriptor("epoll_ctl");
}

std::uint32_t events_of(bool writable, bool readable) { return (readable ? EPOLLIN : 0u) | (writable ? EPOLLOUT : 0u); }
}  // namespace

Poller::Poller() : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(-1) {
  if (epoll_ < 0) no_descriptor("epoll_create1");
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) {
    close(epoll_);
    no_descriptor("eventfd");
  }
  control(epoll_, EPOLL_CTL_ADD, wake_, kWakeTag, EPOLLIN);
}

Poller::~Poller() {
  close(wake_);
  close(epoll_);
}

void Poller::add(int fd, std::uint64_t tag, bool writable, bool readable) {
  control(epoll_, EPOLL_CTL_ADD, fd, tag, events_of(writable, readable));
}
void Poller::share(int fd, std::uint64_t tag) { control(epoll_, EPOLL_CTL_ADD, fd, tag, EPOLLIN | EPOLLEXCLUSIVE); }
void Poller::change(int fd, std::uint64_t tag, bool writable, bool readable) {
  control(epoll_, EPOLL_CTL_MOD, fd, tag, events_of(writable, readable));
}
void Poller::remove(int fd) noexcept { epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

std::size_t Poller::wait(std::span<Ready> ready, Time time) {
  std::array<epoll_event, 64> events;
  int milliseconds = -1;
  if (time != kNever) {
    // Rounded up: a wait that ends early would spin.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until(time)).count();
    milliseconds = static_cast<int>(std::min<std::int64_t>(left, INT_MAX));
  }
  const auto room = static_cast<int>(std::min(ready.size(), events.size()));
  const int count = epoll_wait(epoll_, events.data(), room, milliseconds);
  if (count < 0 && errno != EINTR) no_descriptor("epoll_wait");
  std::size_t filled = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if (event.data.u64 == kWakeTag) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const auto size = read(wake_, &ignored, sizeof ignored);
    } else {
      ready[filled++] = {.tag = event.data.u64,
                         .readable = (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0,
                         .writable = (event.events & EPOLLOUT) != 0};
    }
  }
  return filled;
}

void Poller::wake() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto size = write(wake_, &one, sizeof one);
}

}  // namespace lp
