#include "lp/rpc/core/future.h"

#include <algorithm>
#include <string_view>

#include "lp/rpc/core/connection.h"
#include "lp/rpc/core/service_instance.h"
#include "lp/rpc/core/turn.h"

namespace lp::rpc {

constexpr int kInquiries = 8;  // the most that a call makes while somebody waits for it
constexpr Duration kLeastPause = std::chrono::milliseconds(10);
constexpr std::string_view kThen = "then";  // the name of a continuation, for inquiries

// A continuation on its way into its node's turn.
class ContinuationTask final : public Task {
 public:
  explicit ContinuationTask(std::unique_ptr<Continuation> continuation)
      : Task(continuation->scope_.chain), continuation_(std::move(continuation)) {}

  void run() noexcept override {
    {
      CallContext context{.node = continuation_->node_,
                          .deadline = continuation_->scope_.deadline,
                          .chain = continuation_->scope_.chain,
                          .span = continuation_->scope_.span.id,
                          .holds_turn = true,
                          .path = &continuation_->scope_.path};
      const CallContextScope scope(context);
      continuation_->node_->turn().begin_work(kThen, WaitLink::kNobody, about_now());
      continuation_->run();
    }
    delete this;
  }
  void refuse(const Error&) noexcept override { delete this; }

 private:
  std::unique_ptr<Continuation> continuation_;
};

Continuation::Continuation() {
  const CallContext* context = current_call_context();
  if (context == nullptr) return;
  node_ = context->node;
  scope_ = scope_of_context(*context);
}

void Continuation::dispatch(std::unique_ptr<Continuation> continuation) noexcept {
  if (continuation->node_ == nullptr) {
    continuation->run();
  } else {
    ServiceInstance& node = *continuation->node_;
    ReadyHere::dispatch(node, std::make_unique<ContinuationTask>(std::move(continuation)).release());
  }
}

Error abandoned_promise() {
  return Error(ErrorKind::stopped,
               "the promise was dropped before it had a value: its node ended, or its code forgot to set the value");
}

Error with_may_have_run(const Error& error) {
  if (error.may_have_run()) return error;
  ErrorOrigin origin = error.origin();
  origin.may_have_run = true;
  return Error(error.kind(), error.text(), std::move(origin));
}

StateBase::~StateBase() {
  while (continuations_ != nullptr) {
    const std::unique_ptr<Continuation> dropped(std::exchange(continuations_, continuations_->next_));
  }
}

void StateBase::release() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

bool StateBase::claim() noexcept {
  std::uint32_t expected = kPending;
  return phase_.compare_exchange_strong(expected, kClaimed);
}

void StateBase::publish() noexcept {
  const Ref<StateBase> self = Ref<StateBase>::share(this);  // the waiter may drop the last other reference
  count();
  Continuation* newest = nullptr;
  {
    const std::lock_guard lock(mutex_);
    phase_.store(kReady, std::memory_order_release);
    if (waiter_ != nullptr) waiter_->set();
    newest = std::exchange(continuations_, nullptr);
  }
  completed();
  Continuation* oldest = nullptr;
  while (newest != nullptr) {
    Continuation* const next = std::exchange(newest->next_, oldest);
    oldest = std::exchange(newest, next);
  }
  while (oldest != nullptr) {
    Continuation* const next = std::exchange(oldest->next_, nullptr);
    Continuation::dispatch(std::unique_ptr<Continuation>(std::exchange(oldest, next)));
  }
}

bool StateBase::fail(const Error& error) noexcept {
  if (!claim()) return false;
  publish_error(error);
  return true;
}

void StateBase::publish_error(const Error& error) noexcept {
  error_ = std::make_unique<Error>(error);
  publish();
}

// A call is marked as sent before its claim is read, and here it is claimed before that mark is read. So a call that
// leaves in this moment either counts as one that may have run, or stays.
void StateBase::cancel(const Error& error) noexcept {
  const Ref<StateBase> self = Ref<StateBase>::share(this);
  if (!claim()) return;
  publish_error(may_have_run() ? with_may_have_run(error) : error);
  cancelled();
}

void StateBase::note_obstacles(WaitChain all) {
  auto noted = std::make_unique<WaitChain>(std::move(all));
  const std::lock_guard lock(mutex_);
  obstacles_.swap(noted);
}

void StateBase::inquire() {
  WaitChain all;
  add_obstacles(all);
  note_obstacles(std::move(all));
}

void StateBase::add_noted(WaitChain& all) const {
  const std::lock_guard lock(mutex_);
  if (obstacles_ != nullptr) add_wait_chain(*obstacles_, all);
}

WaitChain StateBase::obstacles_at_deadline(std::uint32_t caller) const {
  const auto end_at_caller = [caller](WaitChain& all) {
    all.erase(std::find_if(all.begin(), all.end(), [&](const WaitLink& one) { return one.node == caller; }), all.end());
  };
  WaitChain all;
  add_obstacles(all);
  end_at_caller(all);
  if (!all.empty() && all.back().awaited != WaitLink::kNobody) return all;
  WaitChain noted;
  add_noted(noted);
  end_at_caller(noted);
  return noted.empty() ? all : noted;
}

Error StateBase::late() const { return Error(ErrorKind::deadline, "no value in time"); }

void StateBase::on_ready(std::unique_ptr<Continuation> continuation) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_.load(std::memory_order_relaxed) != kReady) {
      continuation->next_ = continuations_;
      continuations_ = continuation.release();
    }
  }
  if (continuation == nullptr) {
    want();
    watch_deadline();
  } else {
    Continuation::dispatch(std::move(continuation));
  }
}

void StateBase::wait() {
  if (!wait_until(kNever)) throw Error(ErrorKind::deadline, "no value in time");
}

// When two nodes are asked to stop, the callee may have left first. Its caller gets the error of the stop all the same.
void StateBase::prefer_stop() const {
  const CallContext* const context = current_call_context();
  if (context == nullptr || !context->node->stopping() || !failed()) return;
  if (error().kind() == ErrorKind::disconnected || error().kind() == ErrorKind::stopped)
    throw error().may_have_run() ? with_may_have_run(context->node->stopped_error()) : context->node->stopped_error();
}

void StateBase::wait_on_its_way() {
  if (!on_its_way()) wait_until(kNever, Stage::on_its_way);
}

void StateBase::wake() noexcept {
  const std::lock_guard lock(mutex_);
  if (waiter_ != nullptr) waiter_->set();
}

WaitingThread::For StateBase::what_of(Stage stage) {
  return stage == Stage::on_its_way ? WaitingThread::For::room : WaitingThread::For::reply;
}

bool StateBase::wait_until(Time time, Stage stage) {
  if (ready()) {
    prefer_stop();
    return true;
  }
  CallContext* const context = current_call_context();
  const Time own = deadline();
  const Time given = context == nullptr ? kNever : context->deadline;
  const Time limit = std::min({time, own, given});
  const std::shared_ptr<Connection> connection = carrier();
  const Reading reading(connection == nullptr ? nullptr : &connection->link());
  if (reading.word() == nullptr) want();
  Event event(reading.word(), reading.poller());
  {
    const std::lock_guard lock(mutex_);
    if (has_come(stage)) return true;
    waiter_ = &event;
  }
  // When it takes long, what keeps it is asked for now and then, so that the error at the deadline can tell.
  const Time since = about_now();
  Time begin = since;
  const Duration pause = is_call() ? std::max((limit - begin) / kInquiries, kLeastPause) : kForever;
  bool stopped = false;
  for (bool in_time = false; !in_time; begin = about_now()) {
    const Time next = std::min(limit, later(begin, pause));
    in_time = true;
    {
      const WaitScope wait(context, event,
                           {.what = what_of(stage), .awaited = this, .since = since, .until = std::min(own, given)});
      while (!has_come(stage) && in_time && !(stopped = wait.stopped())) {
        in_time = reading.read() ? !passed(next) : event.wait(next);
      }
    }
    if (next == limit) break;
    if (!in_time) inquire();
  }
  {
    const std::lock_guard lock(mutex_);
    waiter_ = nullptr;
  }
  if (ready()) {
    prefer_stop();
    return true;
  }
  if (has_come(stage)) return true;
  // A wait that ends before its call does leaves the call to run.
  const auto given_up = [this](const Error& error) {
    return is_call() || may_have_run() ? with_may_have_run(error) : error;
  };
  if (stopped) {
    const Error error = context->node->stopped_error();
    if (is_call() && stage == Stage::ready && !may_have_run()) cancel(error);  // it must not leave later
    if (ready()) return true;
    throw given_up(error);
  }
  if (own <= limit) {
    cancel(late());
    return true;
  }
  if (given <= limit) {
    throw given_up(Error(ErrorKind::deadline, "the call that this handler serves has reached its deadline",
                         {.node = context->node->name()}));
  }
  return false;
}

}  // namespace lp::rpc
