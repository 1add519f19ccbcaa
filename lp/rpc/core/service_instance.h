#pragma once
// The runtime's side of one service: its turn, its methods, the waits in it, and its end. There is one for each
// incarnation. It stays until the run ends, because a caller may still hold it, but its service is destroyed when the
// node ends. Thread-safe.

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lp/rpc/core/call.h"
#include "lp/rpc/core/call_context.h"
#include "lp/rpc/core/method.h"
#include "lp/rpc/core/once.h"
#include "lp/rpc/core/turn.h"

namespace lp::rpc {

class Batcher;
class LocalProcess;
class Publication;

// Bounds how many calls of a concurrent method run at a time.
class ConcurrencyLimit {
 public:
  ConcurrencyLimit(int limit, int queue) : limit_(limit), queue_(static_cast<std::size_t>(queue)) {}
  bool try_enter();
  // Enters, or keeps the call for later; false when the queue is full.
  enum class Entry { entered, queued, full };
  Entry enter_or_queue(Task* task);
  // Returns the call that may run instead of the one that has left; null when none waits.
  Task* leave();
  TaskQueue clear();
  // Calls visit(task) for the first tasks of those that wait.
  template <class Visit>
  void each_waiting(std::size_t most, Visit visit) const {
    const std::lock_guard lock(mutex_);
    const Task* task = waiting_.first();
    for (; task != nullptr && most > 0; task = TaskQueue::behind(*task), --most) visit(*task);
  }

 private:
  const int limit_;
  const std::size_t queue_;
  mutable std::mutex mutex_;
  int running_ = 0;
  TaskQueue waiting_;
};

class ServiceInstance {
 public:
  ServiceInstance(LocalProcess& process, NodeId id, std::uint32_t incarnation, std::span<const Method> methods);
  ~ServiceInstance();
  ServiceInstance(const ServiceInstance&) = delete;
  ServiceInstance& operator=(const ServiceInstance&) = delete;

  LocalProcess& process() const { return process_; }
  NodeId id() const { return id_; }
  std::uint32_t incarnation() const { return incarnation_; }
  const std::string& name() const;
  Turn& turn() { return turn_; }
  OnceTable& once() { return once_; }

  // The service. It is set before the first call, and cleared when no handler runs any more.
  void set_object(void* object) { object_ = object; }
  void* object() const { return object_; }

  // Returns the method of this id; null when the service has none.
  const Method* find(std::uint64_t method) const noexcept;
  ConcurrencyLimit* gate(const Method& method) noexcept {
    return gates_[static_cast<std::size_t>(&method - methods_.data())].get();
  }

  // Runs the call as its method's traits require: in turn, concurrently or in a batch. Takes over the call.
  void accept(ServerCall* call);
  // Like accept(), for a call whose turn had come and that had to wait again: it goes before all others.
  void resume(ServerCall* call);
  // Like accept(), for a call that came as bytes. When the current thread may run it, it must run the returned handler:
  // when its turn is free, or when its method runs one call at a time beside the turn and runs none.
  [[nodiscard]] Runnable accept(const Method& method, Incoming&& message);
  // Runs an immediate call. Returns false when the node is stopping.
  bool run_at_once(Task* task) noexcept;
  // Run a task that has entered the gate after began(), and then those that wait there: in a thread of the pool; in
  // this thread. Refuses all of them.
  void run_concurrently(ConcurrencyLimit& gate, Task* task);
  void run_here(ConcurrencyLimit& gate, Task* task) noexcept;
  void refuse_at(ConcurrencyLimit& gate, Task* task, const Error& error) noexcept;

  // Return the work that has the turn, and the call that the work waits for, if it waits in one.
  std::optional<WaitLink> current_work() const { return turn_.current_work(id_); }
  Ref<StateBase> awaited() const;

  // Note the thread of run() (0: it has ended), calls whose handlers have returned without their results, and what the
  // service publishes, for waits() and add_calls().
  void set_run_thread(int thread) noexcept { run_thread_.store(thread, std::memory_order_relaxed); }
  void opened(ServerCall& call);
  void closed(ServerCall& call);  // no effect if it is not open
  void add(Publication& publication);
  void remove(Publication& publication);

  // What the threads of the node wait for, and who has its turn.
  NodeWaits waits() const;
  // Adds the calls that wait at the node or are open there, at most `most`.
  void add_calls(std::vector<OpenCall>& all, std::size_t most) const;

  // Asks the node to end: every wait of its threads ends, no new call is taken.
  void stop(const std::string& reason);
  bool stopping() const { return stopping_.load(std::memory_order_acquire); }
  Error stopped_error() const;
  // Waits until no handler runs, after stop(). Handlers of streams end that wait for their readers.
  bool wait_idle(Time until);

  // Count handlers beside the turn: calls at a gate and batches.
  void began() { active_.fetch_add(1); }
  void ended();

  // Returns an error of one of the node's methods, with its place, for the caller.
  Error failure(const Method& method, const CallScope& scope, std::exception_ptr exception) const;

 private:
  void end_paused();
  // Returns true when the call is to run; then it counts as begun. Returns false when it waits at the gate, or is
  // refused.
  bool enter(ConcurrencyLimit& gate, ServerCall* call);

  friend class WaitScope;
  struct Wait;
  // A concurrent handler that runs in the current thread, while it lives.
  class Running;

  WaitingThread waiting_thread(const Wait& wait, Time at) const;

  LocalProcess& process_;
  const NodeId id_;
  const std::uint32_t incarnation_;
  const std::span<const Method> methods_;  // sorted by id
  Turn turn_;
  OnceTable once_;
  void* object_ = nullptr;
  std::vector<std::unique_ptr<ConcurrencyLimit>> gates_;  // by method; null for a method that runs in turn
  std::vector<std::unique_ptr<Batcher>> batchers_;        // by method; null for a method that is not batched
  std::atomic<bool> stopping_ = false;
  std::atomic<int> active_ = 0;
  mutable std::mutex mutex_;
  std::string reason_;
  Wait* waits_ = nullptr;
  ServerCall* open_ = nullptr;
  Running* running_ = nullptr;
  std::vector<Publication*> publications_;
  std::atomic<int> run_thread_ = 0;
  Event* idle_waiter_ = nullptr;
};

// The reason why a thread waits.
struct WaitNote {
  WaitingThread::For what = WaitingThread::For::time;
  StateBase* awaited = nullptr;  // the call or promise that it waits for; null: something else
  Time since{};
  Time until = kNever;  // its deadline; a wait in slices ends earlier, and begins again
};

struct ServiceInstance::Wait {
  Event* event;
  WaitNote note;
  const CallContext* context;
  int thread;
  Wait* next;
  Wait** place;
};

// While it lives, the current thread waits on `event` for something outside its node. A stop of the node wakes it, and
// calls that come back to the node in the same chain are refused.
class WaitScope {
 public:
  WaitScope(CallContext* context, Event& event, const WaitNote& note) : WaitScope(context, &event, note) {}
  // Only notes the wait: the thread waits in a way of its own.
  WaitScope(CallContext* context, const WaitNote& note) : WaitScope(context, nullptr, note) {}
  ~WaitScope();
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;
  bool stopped() const;

 private:
  WaitScope(CallContext* context, Event* event, const WaitNote& note);
  bool waits_in_turn() const { return wait_.event != nullptr && context_->holds_turn; }

  CallContext* context_;
  ServiceInstance::Wait wait_;
};

}  // namespace lp::rpc
