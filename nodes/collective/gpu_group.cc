#include "nodes/collective/gpu_group.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "lp/base/text.h"
#include "lp/rpc/node_thread.h"
#include "nodes/collective/collective_member.h"

namespace lp {
namespace {

// How long an operation goes on before the members are looked after. Each next interval is twice as long.
constexpr Duration kFirstCheck = std::chrono::milliseconds(100);
constexpr Duration kMostBetweenChecks = std::chrono::seconds(1);
// NCCL has no event for the end of a step, so it is asked in such intervals.
constexpr Duration kFirstQuestion = std::chrono::microseconds(20);
constexpr Duration kMostBetweenQuestions = std::chrono::milliseconds(1);
// NCCL may notice the end of a process before lp does.
constexpr Duration kToNameTheDead = std::chrono::seconds(5);
constexpr Duration kToFinish = std::chrono::seconds(1);
constexpr Duration kLongestSum = CollectiveMember::kStepTime;

}  // namespace

GpuGroup::GpuGroup(std::function<void()> check) : check_(std::move(check)) {
  thread_ = spawn_in_node("gpu-group", [this] { watch(); });
}

GpuGroup::~GpuGroup() {
  set(State::ended);
  thread_.join();
  if (!rank_) return;
  try {
    rank_->finish();
    const Time end = after(kToFinish);
    Event pause;
    for (Duration next = kFirstQuestion; rank_->busy() && !passed(end);
         next = std::min(2 * next, kMostBetweenQuestions))
      pause.wait(after(next));
  } catch (const Error&) {  // then it is aborted
  }
}

void GpuGroup::set(State state) {
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
  }
  news_.set();
}

void GpuGroup::watch() noexcept {
  Duration next = kFirstCheck;
  Time limit = kNever;
  for (;;) {
    State state = State::idle;
    {
      const std::lock_guard lock(mutex_);
      state = state_;
    }
    if (state == State::ended) return;
    if (news_.wait(state == State::idle ? kNever : after(next))) {
      next = kFirstCheck;
      limit = after(kLongestSum);
      continue;
    }
    next = std::min(2 * next, kMostBetweenChecks);
    try {
      check_();
      rank_->busy();
      if (!passed(limit)) continue;
      throw Error(ErrorKind::deadline, "a sum over GPUs has not ended in " + duration_text(kLongestSum));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = as_error(std::current_exception());
    }
    rank_->abort();
    return;
  }
}

template <class Work>
void GpuGroup::watched(Work work) {
  std::optional<Error> error;
  try {
    work();
  } catch (...) {
    error = as_error(std::current_exception());
  }
  set(State::idle);
  {
    const std::lock_guard lock(mutex_);
    if (failure_) error = failure_;
  }
  if (!error) return;
  if (rank_) rank_->abort();
  throw Error(cause_of(*error));
}

// The error that names the member whose end has caused this one.
Error GpuGroup::cause_of(const Error& error) const {
  if (error.kind() != ErrorKind::disconnected) return error;
  Event pause;
  for (const Time end = after(kToNameTheDead); !passed(end); pause.wait(after(kFirstCheck))) {
    try {
      check_();
    } catch (const Error& cause) {
      return cause;
    }
  }
  return Error(ErrorKind::failed, error.text());
}

void GpuGroup::settle(const std::function<void()>& meanwhile) {
  Event pause;
  for (Duration next = kFirstQuestion; rank_->busy(); next = std::min(2 * next, kMostBetweenQuestions)) {
    if (meanwhile) meanwhile();
    pause.wait(after(next));
  }
}

void GpuGroup::form(const gpu::Nccl& nccl, const gpu::Nccl::Id& id, std::uint32_t rank, std::uint32_t ranks,
                    cuda::Stream& stream, const std::function<void()>& meanwhile) {
  watched([&] {
    static_cast<void>(stream.native());  // makes its GPU the current one of this thread, which NCCL takes
    rank_.emplace(nccl, id, static_cast<int>(rank), static_cast<int>(ranks));
    set(State::working);
    settle(meanwhile);
  });
}

void GpuGroup::sum(std::span<const Sum> sums, cuda::Stream& stream) {
  watched([&] {
    set(State::working);
    for (const Sum& one : sums) {
      rank_->sum(one.from, one.to, one.size, stream.native());
      settle();
    }
    stream.queue()->mark()->wait();
  });
}

}  // namespace lp
