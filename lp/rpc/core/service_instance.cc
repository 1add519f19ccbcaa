#include "lp/rpc/core/service_instance.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "lp/rpc/core/batcher.h"
#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/published.h"
#include "lp/rpc/link/before_wait.h"

namespace lp::rpc {

class ServiceInstance::Running {
 public:
  Running(ServiceInstance& node, const Task& task) : node_(node), next_(nullptr), place_(&node.running_) {
    if (const auto* call = dynamic_cast<const ServerCall*>(&task)) {
      work_ = call->method().name;
      caller_ = call->caller().node;
      chain_ = call->scope().chain;
    }
    const std::lock_guard lock(node_.mutex_);
    next_ = node_.running_;
    if (next_ != nullptr) next_->place_ = &next_;
    node_.running_ = this;
  }
  ~Running() {
    const std::lock_guard lock(node_.mutex_);
    *place_ = next_;
    if (next_ != nullptr) next_->place_ = place_;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  const Running* next() const { return next_; }
  RunningHandler handler(const LocalProcess& process, Time at) const {
    return {.work = std::string(work_),
            .caller = process.name(caller_),
            .chain = chain_,
            .thread = thread_,
            .seconds = std::max(to_seconds(at - since_), 0.0)};
  }

 private:
  ServiceInstance& node_;
  Running* next_;
  Running** place_;
  std::string_view work_{};
  NodeId caller_ = Caller::kOutside;
  std::uint64_t chain_ = 0;
  int thread_ = thread_id();
  Time since_ = about_now();
};

bool ConcurrencyLimit::try_enter() {
  const std::lock_guard lock(mutex_);
  if (running_ >= limit_) return false;
  ++running_;
  return true;
}

ConcurrencyLimit::Entry ConcurrencyLimit::enter_or_queue(Task* task) {
  const std::lock_guard lock(mutex_);
  if (running_ < limit_) {
    ++running_;
    return Entry::entered;
  }
  if (waiting_.size() >= queue_) return Entry::full;
  waiting_.push(task);
  return Entry::queued;
}

Task* ConcurrencyLimit::leave() {
  const std::lock_guard lock(mutex_);
  Task* const next = waiting_.pop();
  if (next == nullptr) --running_;
  return next;
}

TaskQueue ConcurrencyLimit::clear() {
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, TaskQueue());
}

ServiceInstance::ServiceInstance(LocalProcess& process, NodeId id, std::uint32_t incarnation,
                                 std::span<const Method> methods)
    : process_(process),
      id_(id),
      incarnation_(incarnation),
      methods_(methods),
      turn_(process.pool(), process.name(id)),
      gates_(methods.size()),
      batchers_(methods.size()) {
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const MethodTraits& traits = methods[i].traits;
    if (traits.concurrent > 0) gates_[i] = std::make_unique<ConcurrencyLimit>(traits.concurrent, traits.queue);
    if (traits.batch > 0) batchers_[i] = std::make_unique<Batcher>(*this, methods[i]);
  }
}

ServiceInstance::~ServiceInstance() = default;

const std::string& ServiceInstance::name() const { return process_.name(id_); }

const Method* ServiceInstance::find(std::uint64_t method) const noexcept {
  const auto found = std::lower_bound(methods_.begin(), methods_.end(), method,
                                      [](const Method& one, std::uint64_t id) { return one.id < id; });
  return found != methods_.end() && found->id == method ? &*found : nullptr;
}

void ServiceInstance::accept(ServerCall* call) {
  const auto i = static_cast<std::size_t>(&call->method() - methods_.data());
  if (batchers_[i] != nullptr && !stopping()) {
    batchers_[i]->add(call);
    if (stopping()) batchers_[i]->close(stopped_error());
  } else if (call->method().traits.immediate && run_at_once(call)) {
    // it has run
  } else if (gates_[i] == nullptr) {
    turn_.post(call);
  } else if (enter(*gates_[i], call)) {
    run_concurrently(*gates_[i], call);
  }
}

bool ServiceInstance::enter(ConcurrencyLimit& gate, ServerCall* call) {
  began();  // before it looks, so that the service stays
  if (stopping()) {
    turn_.post(call);  // which refuses it
    ended();
    return false;
  }
  const ConcurrencyLimit::Entry entry = gate.enter_or_queue(call);
  if (entry == ConcurrencyLimit::Entry::full) {
    const MethodTraits& traits = call->method().traits;
    call->refuse(Error(ErrorKind::overloaded,
                       "all " + std::to_string(traits.concurrent) + " calls that may run at a time are running, and " +
                           std::to_string(traits.queue) + " more wait: try again later",
                       {.node = name(), .method = std::string(call->method().name)}));
  }
  if (entry == ConcurrencyLimit::Entry::entered) return true;
  ended();
  return false;
}

void ServiceInstance::resume(ServerCall* call) {
  if (call->method().traits.in_turn()) {
    turn_.post_front(call);
  } else {
    accept(call);
  }
}

Runnable ServiceInstance::accept(const Method& method, Incoming&& message) {
  ServerCall* const call = method.receive(*this, method, std::move(message));
  track_served(call->reply(), *call);
  const auto i = static_cast<std::size_t>(&method - methods_.data());
  if (batchers_[i] == nullptr && gates_[i] == nullptr && !method.traits.immediate) {
    return turn_.take_or_post(call) ? Runnable{.service = this, .task = call} : Runnable();
  }
  if (gates_[i] != nullptr && method.traits.concurrent == 1) {
    return enter(*gates_[i], call) ? Runnable{.service = this, .gate = gates_[i].get(), .task = call} : Runnable();
  }
  accept(call);
  return {};
}

bool ServiceInstance::run_at_once(Task* task) noexcept {
  began();
  const bool runs = !stopping();
  if (runs) task->run();
  ended();
  return runs;
}

void ServiceInstance::run_here(ConcurrencyLimit& gate, Task* task) noexcept {
  for (Task* next = task; next != nullptr; next = gate.leave()) {
    const Running running(*this, *next);
    next->run();
  }
  ended();
}

void ServiceInstance::refuse_at(ConcurrencyLimit& gate, Task* task, const Error& error) noexcept {
  for (Task* next = task; next != nullptr; next = gate.leave()) next->refuse(error);
  ended();
}

void ServiceInstance::run_concurrently(ConcurrencyLimit& gate, Task* task) {
  Runnable{.service = this, .gate = &gate, .task = task}.run_in(process_.pool());
}

void Runnable::run() const noexcept {
  if (service == nullptr) return;
  if (gate == nullptr) {
    service->turn().run(task);
  } else {
    service->run_here(*gate, task);
  }
}

void Runnable::run_in(Pool& pool) const noexcept {
  try {
    pool.run([*this] { run(); });
  } catch (const Error& error) {
    if (gate != nullptr) {
      service->refuse_at(*gate, task, error);
    } else {
      task->refuse(error);
      service->turn().release();
    }
  }
}

thread_local ReadyHere* ReadyHere::t_current = nullptr;

void ReadyHere::dispatch(ServiceInstance& service, Task* task) {
  Turn& turn = service.turn();
  if (t_current == nullptr || t_current->runnable_) {
    turn.post(task);
  } else if (turn.take_or_post(task)) {
    t_current->runnable_ = {.service = &service, .task = task};
  }
}

void ServiceInstance::ended() {
  if (active_.fetch_sub(1) != 1 || !stopping()) return;
  const std::lock_guard lock(mutex_);
  if (idle_waiter_ != nullptr) idle_waiter_->set();
}

void ServiceInstance::stop(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_.exchange(true)) return;
    reason_ = reason;
    for (const Wait* wait = waits_; wait != nullptr; wait = wait->next) {
      if (wait->event != nullptr) wait->event->set();
    }
  }
  const Error error = stopped_error();
  turn_.close(error);
  for (std::size_t i = 0; i < methods_.size(); ++i) {
    if (batchers_[i] != nullptr) batchers_[i]->close(error);
    if (gates_[i] == nullptr) continue;
    TaskQueue waiting = gates_[i]->clear();
    while (Task* task = waiting.pop()) {
      if (!task->move_on()) task->refuse(error);
    }
  }
}

Error ServiceInstance::stopped_error() const {
  const std::lock_guard lock(mutex_);
  return Error(ErrorKind::stopped, reason_.empty() ? "the node was asked to stop" : reason_, {.node = name()});
}

void ServiceInstance::end_paused() {
  std::vector<Ref<ServerCall>> open;
  {
    const std::lock_guard lock(mutex_);
    for (ServerCall* call = open_; call != nullptr; call = call->next_open_)
      open.push_back(Ref<ServerCall>::share(call));
  }
  for (const Ref<ServerCall>& call : open) call->grant(0);  // its handler cannot go on, and ends
}

bool ServiceInstance::wait_idle(Time time) {
  if (!turn_.wait_idle(time)) return false;
  end_paused();
  Event idle;
  std::unique_lock lock(mutex_);
  idle_waiter_ = &idle;
  bool in_time = true;
  while (active_.load() > 0 && in_time) {
    lock.unlock();
    in_time = idle.wait(time);
    lock.lock();
  }
  idle_waiter_ = nullptr;
  return active_.load() == 0;
}

Error ServiceInstance::failure(const Method& method, const CallScope& scope, std::exception_ptr exception) const {
  Error error = as_error(std::move(exception));
  // The error may come from a call that did not run, but this call did.
  if (error.kind() != ErrorKind::failed) error = with_may_have_run(error);
  // An error with a node comes from a call that this handler made, or has its place already.
  if (!error.node().empty()) return error;
  ErrorOrigin origin = error.origin();
  origin.node = name();
  origin.method = method.name;
  origin.path = process_.names(scope.path);
  return Error(error.kind(), error.text(), std::move(origin));
}

Ref<StateBase> ServiceInstance::awaited() const {
  const std::lock_guard lock(mutex_);
  for (const Wait* wait = waits_; wait != nullptr; wait = wait->next) {
    if (wait->note.awaited != nullptr && wait->context->holds_turn) return Ref<StateBase>::share(wait->note.awaited);
  }
  return {};
}

void ServiceInstance::opened(ServerCall& call) {
  const std::lock_guard lock(mutex_);
  call.next_open_ = open_;
  call.open_place_ = &open_;
  if (open_ != nullptr) open_->open_place_ = &call.next_open_;
  open_ = &call;
}

void ServiceInstance::closed(ServerCall& call) {
  const std::lock_guard lock(mutex_);
  if (call.open_place_ == nullptr) return;
  *call.open_place_ = call.next_open_;
  if (call.next_open_ != nullptr) call.next_open_->open_place_ = call.open_place_;
  call.open_place_ = nullptr;
}

void ServiceInstance::add(Publication& publication) {
  const std::lock_guard lock(mutex_);
  publications_.push_back(&publication);
}

void ServiceInstance::remove(Publication& publication) {
  const std::lock_guard lock(mutex_);
  std::erase(publications_, &publication);
}

WaitingThread ServiceInstance::waiting_thread(const Wait& wait, Time at) const {
  WaitingThread thread{.thread = wait.thread,
                       .what = wait.note.what,
                       .chain = wait.context->chain,
                       .seconds = std::max(to_seconds(at - wait.note.since), 0.0)};
  if (wait.note.until != kNever) thread.left = std::max(to_seconds(wait.note.until - at), 0.0);
  if (wait.note.awaited == nullptr) return thread;
  if (const std::optional<CallName> call = wait.note.awaited->call_name()) {
    thread.callee = process_.name(call->callee);
    thread.method = call->method;
    thread.call_chain = call->chain;
    if (call->item) thread.what = WaitingThread::For::item;
  } else {
    thread.what = WaitingThread::For::future;
  }
  return thread;
}

NodeWaits ServiceInstance::waits() const {
  NodeWaits all{.node = name(), .run_thread = run_thread_.load(std::memory_order_relaxed)};
  const std::uint64_t chain = turn_.chain();
  if (const std::optional<WaitLink> work = current_work()) {
    all.turn = {.work = work->work,
                .caller = work->caller < process_.size() ? process_.name(work->caller) : std::string(),
                .chain = chain,
                .thread = turn_.work_thread(),
                .seconds = to_seconds(work->age)};
  }
  all.queue = turn_.each_waiting(0, [](const Task&) {});
  const Time at = now();
  const std::lock_guard lock(mutex_);
  for (const Wait* wait = waits_; wait != nullptr && all.threads.size() < ProcessWaits::kMost; wait = wait->next) {
    all.threads.push_back(waiting_thread(*wait, at));
  }
  for (const Running* one = running_; one != nullptr && all.beside.size() < ProcessWaits::kMost; one = one->next()) {
    all.beside.push_back(one->handler(process_, at));
  }
  for (const Publication* publication : publications_) {
    if (std::optional<HeldVersions> held = publication->held()) all.versions.push_back(std::move(*held));
  }
  return all;
}

void ServiceInstance::add_calls(std::vector<OpenCall>& all, std::size_t most) const {
  const std::size_t end = all.size() + most;
  const auto add = [&](const ServerCall& call, OpenCall::State state) {
    all.push_back(open_call(process_, call.caller(), id_, call.method().name, call.scope(), state));
  };
  const auto add_waiting = [&](OpenCall::State state) {
    return [&add, state](const Task& task) {
      if (const auto* call = dynamic_cast<const ServerCall*>(&task)) add(*call, state);
    };
  };
  turn_.each_waiting(end - all.size(), add_waiting(OpenCall::State::queued));
  for (const auto& gate : gates_) {
    if (gate != nullptr) gate->each_waiting(end - all.size(), add_waiting(OpenCall::State::limited));
  }
  const std::lock_guard lock(mutex_);
  for (const ServerCall* call = open_; call != nullptr && all.size() < end; call = call->next_open_) {
    if (call->wanted()) add(*call, call->paused() ? OpenCall::State::paused : OpenCall::State::open);
  }
}

WaitScope::WaitScope(CallContext* context, Event* event, const WaitNote& note)
    : context_(context),
      wait_{
          .event = event, .note = note, .context = context, .thread = thread_id(), .next = nullptr, .place = nullptr} {
  BeforeWait::hand_over_all();
  if (context_ == nullptr) return;
  ServiceInstance& node = *context_->node;
  {
    const std::lock_guard lock(node.mutex_);
    wait_.next = node.waits_;
    wait_.place = &node.waits_;
    if (wait_.next != nullptr) wait_.next->place = &wait_.next;
    node.waits_ = &wait_;
  }
  if (waits_in_turn()) node.turn_.begin_wait();
}

WaitScope::~WaitScope() {
  if (context_ == nullptr) return;
  ServiceInstance& node = *context_->node;
  if (waits_in_turn()) node.turn_.end_wait();
  const std::lock_guard lock(node.mutex_);
  *wait_.place = wait_.next;
  if (wait_.next != nullptr) wait_.next->place = wait_.place;
}

bool WaitScope::stopped() const { return context_ != nullptr && context_->node->stopping(); }

}  // namespace lp::rpc
