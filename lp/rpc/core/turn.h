#pragma once
// One service's turn: the code that has it runs alone. A call may take the turn on its caller's stack when nobody has
// it and nobody waits. Every other task queues, and runs in order in a thread of the pool. Owned by a ServiceInstance;
// thread-safe.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/function.h"
#include "lp/base/scheduler.h"
#include "lp/rpc/core/wait_chain.h"

namespace lp::rpc {

// A task that runs in a turn. After run() or refuse(), exactly one of which is called, the task owns itself again.
class Task {
 public:
  explicit Task(std::uint64_t chain = 0) : chain_(chain) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  virtual void run() noexcept = 0;                       // runs in the turn
  virtual void refuse(const Error& error) noexcept = 0;  // the task will never run
  // A call that had not begun when its node ended may go to the next incarnation. Returns true when the call went
  // there.
  virtual bool move_on() noexcept { return false; }

  std::uint64_t chain() const { return chain_; }

 private:
  friend class TaskQueue;
  std::uint64_t chain_;
  Task* next_ = nullptr;
};

// A first-in, first-out queue; owns nothing.
class TaskQueue {
 public:
  bool empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  // The first task, and the one behind a task; null at the end.
  const Task* first() const { return first_; }
  static const Task* behind(const Task& task);
  void push(Task* task);
  void push_front(Task* task);
  Task* pop();  // null when empty
  // Moves the tasks of `chain` out.
  TaskQueue extract(std::uint64_t chain);

 private:
  Task* first_ = nullptr;
  Task* last_ = nullptr;
  std::size_t size_ = 0;
};

inline const Task* TaskQueue::behind(const Task& task) { return task.next_; }

class Turn {
 public:
  static constexpr std::size_t kQueueLimit = 1 << 18;  // tasks that wait; past it, a call gets `overloaded`

  Turn(Pool& pool, std::string node) : pool_(pool), node_(std::move(node)) {}

  // Takes the turn for `chain` when nobody has it or waits for it. If it returns true, release() must follow.
  bool try_take(std::uint64_t chain) noexcept;
  void release() noexcept;

  // For the holder of the turn: names its work, for a caller that asks why the turn takes long. `name` must live for
  // ever.
  void begin_work(const std::string_view& name, std::uint32_t caller, Time begin) noexcept {
    work_begin_.store(begin.time_since_epoch().count(), std::memory_order_relaxed);
    work_caller_.store(caller, std::memory_order_relaxed);
    work_thread_.store(thread_id(), std::memory_order_relaxed);
    work_.store(&name, std::memory_order_relaxed);
  }
  // The work that has the turn of `node`, whose turn this is. Nothing when the turn is free, or its holder has named no
  // work.
  std::optional<WaitLink> current_work(std::uint32_t node) const;
  // The thread and the chain of that work.
  int work_thread() const noexcept { return work_thread_.load(std::memory_order_relaxed); }
  std::uint64_t chain() const noexcept { return chain_.load(std::memory_order_relaxed); }
  // Calls visit(task) for the first tasks of those that wait, and returns the number of all. `visit` must be short.
  template <class Visit>
  std::size_t each_waiting(std::size_t most, Visit visit) const {
    const std::lock_guard lock(mutex_);
    const Task* task = queue_.first();
    for (; task != nullptr && most > 0; task = TaskQueue::behind(*task), --most) visit(*task);
    return queue_.size();
  }

  // For the holder of the turn: runs `f`, which must not throw, before the turn passes on.
  void at_end(Function<void()> f) { at_end_ = std::move(f); }

  // Takes the turn for a task when it is free, otherwise queues the task as post does. If it returns true, run(task)
  // must follow.
  bool take_or_post(Task* task);
  // Runs a task that has the turn, and then the tasks that have queued meanwhile.
  void run(Task* task) noexcept;

  // Queues a task. Refuses it when the queue is full, when the turn is closed, or when the turn is held by the same
  // chain and waits (a call came back to a service that is busy in the same chain).
  void post(Task* task);
  // Queues a task before all others, without a limit: for heartbeats, and for tasks that have waited already.
  void post_front(Task* task);

  // For the holder of the turn, in its thread: it waits for something else. Calls of its chain are refused meanwhile,
  // those that wait already too. Nests.
  void begin_wait() noexcept;
  void end_wait() noexcept { waiting_.store(waiting_.load(std::memory_order_relaxed) - 1, std::memory_order_release); }
  bool waits() const noexcept { return waiting_.load() > 0; }

  // No task begins any more. Waiting tasks move on or are refused.
  void close(const Error& error);
  // Waits until the turn is closed and its holder, if any, has released it.
  bool wait_idle(Time until);

 private:
  enum : std::uint32_t { kIdle, kHeld, kQueued };  // kQueued: held, and a task waits

  void run_at_end() noexcept;
  bool try_release() noexcept;
  void drain() noexcept;
  void schedule() noexcept;
  // A call came back to the service, which is busy in the same chain.
  void refuse(TaskQueue& tasks) const noexcept;
  Error busy_in_chain() const;

  Pool& pool_;
  const std::string node_;
  std::atomic<std::uint32_t> state_ = kIdle;
  std::atomic<std::uint64_t> chain_ = 0;                 // chain of the holder
  std::atomic<const std::string_view*> work_ = nullptr;  // the holder's work; null: unknown
  std::atomic<Time::rep> work_begin_ = 0;
  std::atomic<std::uint32_t> work_caller_ = WaitLink::kNobody;
  std::atomic<int> work_thread_ = 0;
  std::atomic<int> waiting_ = 0;            // only the holder changes it
  std::atomic<std::uint64_t> cleared_ = 0;  // no task of this chain waits
  std::atomic<bool> closed_ = false;
  Function<void()> at_end_;  // function of the holder
  mutable std::mutex mutex_;
  TaskQueue queue_;
  Error closed_error_{ErrorKind::stopped, ""};
  Event* idle_waiter_ = nullptr;
};

class ConcurrencyLimit;
class ServiceInstance;

// A task that may run at once, because it has its turn, or its place at the gate of its method, already. The thread
// that gets it runs it, or lets another run it.
struct Runnable {
  ServiceInstance* service = nullptr;  // null: there is nothing to run
  ConcurrencyLimit* gate = nullptr;    // null: it has the turn of the service
  Task* task = nullptr;

  explicit operator bool() const { return service != nullptr; }
  void run() const noexcept;
  // Runs it in a thread of the pool. Refuses the call when the system has no thread left.
  void run_in(Pool& pool) const noexcept;
};

// While it lives, in a thread that handles a message: the first continuation that the message makes ready, and whose
// turn is free, becomes a Runnable of this thread. So the continuation costs no change of thread. All others are
// posted. Lives on the stack; nests.
class ReadyHere {
 public:
  ReadyHere() noexcept : outer_(std::exchange(t_current, this)) {}
  ~ReadyHere() { t_current = outer_; }
  ReadyHere(const ReadyHere&) = delete;
  ReadyHere& operator=(const ReadyHere&) = delete;

  // Passes on a task of `service`: to the innermost ReadyHere of this thread, or to the turn's queue.
  static void dispatch(ServiceInstance& service, Task* task);

  const Runnable& runnable() const noexcept { return runnable_; }

 private:
  static thread_local ReadyHere* t_current;
  ReadyHere* const outer_;
  Runnable runnable_;
};

}  // namespace lp::rpc
