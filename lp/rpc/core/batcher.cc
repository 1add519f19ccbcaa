#include "lp/rpc/core/batcher.h"

#include <algorithm>
#include <utility>

#include "lp/rpc/core/local_process.h"
#include "lp/rpc/core/service_instance.h"

namespace lp::rpc {
namespace {

// A batch that runs in its service's turn.
class BatchTask final : public Task {
 public:
  BatchTask(ServiceInstance& node, const Method& method, std::vector<ServerCall*> calls)
      : node_(node), method_(method), calls_(std::move(calls)) {}

  void run() noexcept override {
    CallContext context{.node = &node_, .deadline = Time::min(), .chain = new_chain(), .holds_turn = true};
    std::vector<ServerCall*> wanted;
    for (ServerCall*& call : calls_) {
      if (!call->wanted()) continue;
      if (!call->begin_once()) {
        call = nullptr;
        continue;
      }
      context.deadline = std::max(context.deadline, call->scope().deadline);
      const std::uint64_t span = call->note_begin();
      if (context.span == 0) context.span = span;  // what the batch causes belongs to the first that is recorded
      wanted.push_back(call);
    }
    if (!wanted.empty()) {
      node_.turn().begin_work(method_.name, WaitLink::kNobody, about_now());
      const CallContextScope scope(context);
      method_.run_batch(node_, method_, wanted);
      for (ServerCall* call : wanted) call->note_return();
    }
    for (ServerCall* call : calls_) {
      if (call != nullptr) call->release();
    }
    delete this;
  }

  void refuse(const Error& error) noexcept override {
    for (ServerCall* call : calls_) {
      if (!call->move_on()) call->refuse(error);
    }
    delete this;
  }

 private:
  ServiceInstance& node_;
  const Method& method_;
  std::vector<ServerCall*> calls_;
};

}  // namespace

void Batcher::add(ServerCall* call) {
  std::vector<ServerCall*> full;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(call);
    if (waiting_.size() >= static_cast<std::size_t>(method_.traits.batch)) {
      full = std::exchange(waiting_, {});
      ++round_;
      if (timer_ != 0) node_.process().timers().cancel(std::exchange(timer_, 0));
    } else if (waiting_.size() == 1) {
      timer_ = node_.process().timers().at(after(method_.traits.batch_wait), [this, round = round_] { flush(round); });
    }
  }
  if (!full.empty()) post(std::move(full));
}

void Batcher::flush(std::uint64_t round) {
  std::vector<ServerCall*> calls;
  {
    const std::lock_guard lock(mutex_);
    if (round != round_) return;
    calls = std::exchange(waiting_, {});
    ++round_;
    timer_ = 0;
  }
  if (!calls.empty()) post(std::move(calls));
}

void Batcher::post(std::vector<ServerCall*> calls) {
  node_.turn().post(new BatchTask(node_, method_, std::move(calls)));
}

void Batcher::close(const Error& error) {
  std::vector<ServerCall*> calls;
  {
    const std::lock_guard lock(mutex_);
    calls = std::exchange(waiting_, {});
    ++round_;
    if (timer_ != 0) node_.process().timers().cancel(std::exchange(timer_, 0));
  }
  for (ServerCall* call : calls) {
    if (!call->move_on()) call->refuse(error);
  }
}

}  // namespace lp::rpc
