#pragma once
// The only place that knows clocks, threads and waiting: {now, spawn, park, unpark, timer}. Everything else in lp waits
// on an Event, a Future or a Poller, with a deadline, and starts work with spawn or a Pool.
//
// All functions may be called from any thread. An object is owned by its creator.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lp/base/function.h"

namespace lp {

using Duration = std::chrono::nanoseconds;
using Time = std::chrono::time_point<std::chrono::steady_clock, Duration>;

inline constexpr Time kNever = Time::max();
inline constexpr Duration kForever = Duration::max();

Time now() noexcept;                                // monotonic
Time about_now() noexcept;                          // the same, some milliseconds behind, at a tenth of the cost
Time after(Duration duration) noexcept;             // now() + duration; kNever when that is out of range
Time later(Time time, Duration duration) noexcept;  // time + duration; kNever when that is out of range
Duration until(Time time) noexcept;                 // time - now(), at least 0; kForever for kNever
bool passed(Time time) noexcept;                    // now() >= time
// Times and durations of a second and more may be some milliseconds longer: their clock is coarse and costs a tenth.

// Convert the seconds that people write and read. A duration out of range becomes kForever or -kForever, and no number
// becomes kForever.
Duration from_seconds(double seconds) noexcept;
double to_seconds(Duration duration) noexcept;

// Returns nanoseconds since 1970, for logs and the names of files. Never measure with it.
std::int64_t wall_clock() noexcept;

// A word that threads wait on. They may belong to any process that has the word in its memory.
using Word = std::atomic<std::uint32_t>;
// Sleeps while the word is `value`, until unpark; may wake without a cause. Returns false when `until` passed first.
bool park(Word& word, std::uint32_t value, Time until = kNever) noexcept;
void unpark(Word& word, int threads = 1) noexcept;
// Lets the other thread of a core go on while this one spins.
void relax() noexcept;
// Lets another thread run on this core, if one is ready to.
void step_aside() noexcept;

// Identifies a thread's time on the cores. Time in which it waits, or others have its core, does not count. A value;
// any thread may read it, also from an atomic, for which it is aligned.
struct alignas(8) WorkClock {
  int clock = 0;
  int thread = 0;
};
WorkClock work_clock() noexcept;            // clock of this thread
Duration worked(WorkClock clock) noexcept;  // time so far; 0 when the thread has ended
// Whether the thread works now, or would if it had a core.
bool runnable(WorkClock clock) noexcept;

namespace internal {
extern constinit thread_local int t_thread_id;
int find_thread_id() noexcept;
}  // namespace internal

// The kernel's number of this thread. After its first call in a thread it costs a read.
inline int thread_id() noexcept {
  return internal::t_thread_id != 0 ? internal::t_thread_id : internal::find_thread_id();
}

class Poller;

// A place where one thread waits for one other: set() wakes the waiter, or lets the next wait() pass at once.
class Event {
 public:
  // The values of an event's word. 3 and more are never an event's.
  static constexpr std::uint32_t kEmpty = 0, kSet = 1, kWaiting = 2;

  Event() : word_(own_) {}
  // Uses a word that other processes see too (null: its own). The word has one of the values above, and outlives the
  // event. With a poller, the waiter waits there, and a descriptor that becomes ready wakes it as set() does.
  explicit Event(Word* shared, Poller* poller = nullptr) : word_(shared == nullptr ? own_ : *shared), poller_(poller) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  // Returns true when the event was set, and resets it. Returns false when `until` passed first.
  bool wait(Time until = kNever) noexcept;
  void set() noexcept;
  // Sets the event of a word, for callers that have only the word.
  static void set(Word& word) noexcept;

 private:
  bool sleep(Time until) noexcept;

  Word own_ = kEmpty;
  Word& word_;
  Poller* poller_ = nullptr;
};

// A thread with a name that debuggers show. The destructor joins.
class Thread {
 public:
  Thread() = default;
  Thread(Thread&& other) noexcept;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread();

  bool joinable() const noexcept { return state_ != nullptr; }
  void join();
  // Waits at most until `until`. Returns false when the thread still runs.
  bool join_until(Time until);
  // Lets the thread go on without an owner. Only for a thread that will not end.
  void abandon() noexcept;

 private:
  friend Thread spawn(std::string name, Function<void()> body);
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread itself, which may outlive an abandoning owner
};

// Starts `body` in a thread of its own. `body` must not throw. Throws Error::failed, naming the limit, when the system
// has no thread left.
Thread spawn(std::string name, Function<void()> body);
// Throws Error::failed, naming the limit, when the system has fewer threads left. Otherwise it has that many right
// after this call.
void check_threads(int count);

// Threads that are made when there is work and no idle thread, and that end after a while of idleness. So a task may
// wait for another task of the same pool without a deadlock. The destructor waits for the running tasks.
class Pool {
 public:
  explicit Pool(std::string name);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Runs `task`, which must not throw, on some thread.
  void run(Function<void()> task);
  // Waits until no task runs. Returns false when `until` passed first.
  bool drain(Time until);
  // Leaves threads that do not end behind. The pool's state stays alive with them.
  void abandon() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive an abandoning owner
};

// Runs functions at given times, in one thread, in order of time. The functions must be short and must not throw.
class Timers {
 public:
  using Id = std::uint64_t;

  Timers();
  ~Timers();
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // Starts the thread, which the first at() starts otherwise. Both throw Error::failed when the system has none left.
  void start();
  Id at(Time time, Function<void()> function);
  // Returns true when the function had not started. It then never runs.
  bool cancel(Id id);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Waits for file descriptors. One thread waits; any thread may wake it.
class Poller {
 public:
  struct Ready {
    std::uint64_t tag = 0;
    bool readable = false;  // also at end of file and on error: read to learn which
    bool writable = false;
  };

  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Watches `fd` (level-triggered) until it is readable, if wanted, or writable, if wanted. `tag` comes back in Ready.
  void add(int fd, std::uint64_t tag, bool writable = false, bool readable = true);
  // Watches `fd` until it is readable, together with other pollers. It wakes one poller: the first to which it was
  // added and that has a waiting thread.
  void share(int fd, std::uint64_t tag);
  void change(int fd, std::uint64_t tag, bool writable, bool readable = true);
  void remove(int fd) noexcept;

  // Fills `ready` and returns the number of entries; 0 when woken or when `until` passed first.
  std::size_t wait(std::span<Ready> ready, Time until);
  void wake() noexcept;

 private:
  int epoll_;
  int wake_;
};

}  // namespace lp
