#include "lp/rpc/core/turn.h"

#include <algorithm>
#include <utility>

namespace lp::rpc {

void TaskQueue::push(Task* task) {
  task->next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = task;
  last_ = task;
  ++size_;
}

void TaskQueue::push_front(Task* task) {
  task->next_ = first_;
  first_ = task;
  if (last_ == nullptr) last_ = task;
  ++size_;
}

Task* TaskQueue::pop() {
  Task* const task = first_;
  if (task == nullptr) return nullptr;
  first_ = task->next_;
  if (first_ == nullptr) last_ = nullptr;
  --size_;
  return task;
}

TaskQueue TaskQueue::extract(std::uint64_t chain) {
  TaskQueue taken;
  TaskQueue kept;
  while (Task* task = pop()) (task->chain() == chain ? taken : kept).push(task);
  *this = kept;
  return taken;
}

bool Turn::try_take(std::uint64_t chain) noexcept {
  std::uint32_t expected = kIdle;
  if (!state_.compare_exchange_strong(expected, kHeld)) return false;
  if (closed_.load()) {
    release();
    return false;
  }
  chain_.store(chain, std::memory_order_relaxed);
  work_.store(nullptr, std::memory_order_relaxed);
  return true;
}

std::optional<WaitLink> Turn::current_work(std::uint32_t node) const {
  const std::string_view* const work = work_.load(std::memory_order_relaxed);
  if (work == nullptr || state_.load() == kIdle) return std::nullopt;
  const Time begin{Duration(work_begin_.load(std::memory_order_relaxed))};
  return WaitLink{.node = node,
                  .work = std::string(*work),
                  .caller = work_caller_.load(std::memory_order_relaxed),
                  .age = std::max(now() - begin, Duration::zero())};
}

void Turn::run_at_end() noexcept {
  if (!at_end_) return;
  Function<void()> f = std::move(at_end_);
  at_end_ = nullptr;
  f();
}

void Turn::release() noexcept {
  run_at_end();
  if (!try_release()) schedule();  // the turn passes to the tasks that wait
}

bool Turn::take_or_post(Task* task) {
  if (try_take(task->chain())) return true;
  post(task);
  return false;
}

void Turn::run(Task* task) noexcept {
  task->run();
  run_at_end();
  if (!try_release()) drain();
}

// Returns false when a task waits for the turn.
bool Turn::try_release() noexcept {
  std::uint32_t expected = kHeld;
  if (!state_.compare_exchange_strong(expected, kIdle)) return false;
  if (closed_.load()) {
    const std::lock_guard lock(mutex_);
    if (idle_waiter_ != nullptr) idle_waiter_->set();
  }
  return true;
}

void Turn::post(Task* task) {
  std::unique_lock lock(mutex_);
  if (closed_.load()) {
    const Error error = closed_error_;
    lock.unlock();
    if (!task->move_on()) task->refuse(error);
    return;
  }
  if (queue_.size() >= kQueueLimit) {
    lock.unlock();
    task->refuse(Error(ErrorKind::overloaded,
                       std::to_string(kQueueLimit) + " calls wait already: call less often, or wait for replies",
                       {.node = node_}));
    return;
  }
  const std::uint64_t chain = task->chain();
  queue_.push(task);
  cleared_ = 0;
  std::uint32_t seen = state_.load();
  while (seen != kQueued && !state_.compare_exchange_weak(seen, kQueued)) {
  }
  // This looks at waiting_ after it has queued the task, and begin_wait() the other way round: one of the two finds the
  // task.
  TaskQueue refused;
  const bool same_chain = chain != 0 && chain == chain_.load(std::memory_order_relaxed);
  if (seen != kIdle && same_chain && waits()) refused = queue_.extract(chain);
  lock.unlock();
  refuse(refused);
  if (seen == kIdle) schedule();
}

void Turn::post_front(Task* task) {
  std::unique_lock lock(mutex_);
  if (closed_.load()) {
    const Error error = closed_error_;
    lock.unlock();
    if (!task->move_on()) task->refuse(error);
    return;
  }
  queue_.push_front(task);
  cleared_ = 0;
  std::uint32_t seen = state_.load();
  while (seen != kQueued && !state_.compare_exchange_weak(seen, kQueued)) {
  }
  lock.unlock();
  if (seen == kIdle) schedule();
}

void Turn::begin_wait() noexcept {
  waiting_ = waiting_.load(std::memory_order_relaxed) + 1;
  if (state_.load() != kQueued) return;
  const std::uint64_t chain = chain_.load(std::memory_order_relaxed);
  if (chain == 0 || cleared_.load() == chain) return;
  TaskQueue refused;
  {
    const std::lock_guard lock(mutex_);
    refused = queue_.extract(chain);
    cleared_ = chain;
  }
  refuse(refused);
}

void Turn::refuse(TaskQueue& tasks) const noexcept {
  while (Task* task = tasks.pop()) task->refuse(busy_in_chain());
}

void Turn::close(const Error& error) {
  TaskQueue left;
  {
    const std::lock_guard lock(mutex_);
    if (closed_.exchange(true)) return;
    closed_error_ = error;
    left = std::exchange(queue_, TaskQueue());
  }
  while (Task* task = left.pop()) {
    if (!task->move_on()) task->refuse(error);
  }
}

bool Turn::wait_idle(Time time) {
  Event idle;
  std::unique_lock lock(mutex_);
  idle_waiter_ = &idle;
  while (state_.load() != kIdle) {
    lock.unlock();
    const bool in_time = idle.wait(time);
    lock.lock();
    if (!in_time) break;
  }
  idle_waiter_ = nullptr;
  return state_.load() == kIdle;
}

void Turn::drain() noexcept {
  for (;;) {
    Task* task = nullptr;
    {
      const std::lock_guard lock(mutex_);
      task = queue_.pop();
      if (task == nullptr) {
        state_.store(kIdle);
        if (idle_waiter_ != nullptr) idle_waiter_->set();
        return;
      }
      chain_.store(task->chain(), std::memory_order_relaxed);
      work_.store(nullptr, std::memory_order_relaxed);
    }
    task->run();
    run_at_end();
  }
}

void Turn::schedule() noexcept {
  try {
    pool_.run([this] { drain(); });
  } catch (const Error&) {
    drain();  // the system has no thread: this one runs the tasks, later than possible
  }
}

Error Turn::busy_in_chain() const {
  return Error(ErrorKind::failed,
               "this call comes back to a service that is busy in the same chain of calls, so it would wait for "
               "itself: let the handler return a Future, or use send instead of call",
               {.node = node_});
}

}  // namespace lp::rpc
