#include "nodes/collective/fused_allreduce.h"

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "lp/rpc/node_thread.h"

namespace lp {

FusedAllreduce::FusedAllreduce(Collective& all, std::uint32_t tensors, Duration cycle)
    : all_(all), tensors_(tensors), cycle_(cycle), thread_(spawn_in_node("allreduce", [this] { run(); })) {}

FusedAllreduce::~FusedAllreduce() {
  std::optional<std::string> reason;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    if (!on_their_way_.empty()) reason = error_ ? error_->what() : "it dropped tensors that were being summed";
  }
  news_.set();
  try {
    if (reason) all_.leave(*reason);
  } catch (const Error&) {
    // The member is gone, and all others are notified of that.
  }
}

void FusedAllreduce::start(std::uint32_t index, std::span<float> tensor) {
  {
    const std::lock_guard lock(mutex_);
    if (error_) throw Error(*error_);
    if (index >= tensors_) {
      throw Error(ErrorKind::failed, "tensor " + std::to_string(index) + " of " + std::to_string(tensors_) +
                                         " is given: tensors count from 0");
    }
    if (waiting_) {  // other ranks may know already that this rank waits
      throw Error(ErrorKind::failed, "tensor " + std::to_string(index) +
                                         " is given after a wait() that a deadline ended: call wait() again first");
    }
    if (!on_their_way_.emplace(index, tensor).second) {
      throw Error(ErrorKind::failed, "tensor " + std::to_string(index) +
                                         " is given while it is being summed: call wait() before the next step");
    }
    if (on_their_way_.size() == 1) due_ = after(cycle_);
  }
  news_.set();
}

void FusedAllreduce::wait() {
  Future<void> done;
  {
    const std::lock_guard lock(mutex_);
    if (error_) throw Error(*error_);
    if (on_their_way_.empty()) return;
    done = waiting_.emplace().future();
  }
  news_.set();
  done.get();
}

void FusedAllreduce::run() noexcept {
  try {
    while (await_cycle()) cycle();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    error_ = as_error(std::current_exception());
    if (waiting_) waiting_->set_error(*error_);
  }
}

// Returns false when there are no more cycles.
bool FusedAllreduce::await_cycle() {
  for (;;) {
    Time next = kNever;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return false;
      if (waiting_) return true;
      if (!on_their_way_.empty()) next = due_;
    }
    if (passed(next)) return true;
    news_.wait(next);
  }
}

void FusedAllreduce::cycle() {
  std::vector<float> counts(tensors_ + 1);  // how many ranks have started each tensor; last: how many ranks wait
  {
    const std::lock_guard lock(mutex_);
    due_ = after(cycle_);
    for (const auto& [index, tensor] : on_their_way_) counts[index] = 1;
    counts.back() = waiting_ ? 1 : 0;
  }
  all_.allreduce(counts);
  const auto ranks = static_cast<float>(all_.ranks());

  std::vector<std::span<float>> ready;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [index, tensor] : on_their_way_) {
      if (counts[index] == ranks) ready.push_back(tensor);
    }
  }
  if (ready.empty() && counts.back() == ranks) {
    std::string text = "all ranks wait for tensors that only some ranks have given:";
    for (std::uint32_t index = 0; index < tensors_; ++index) {
      if (counts[index] == 0) continue;
      text += " tensor " + std::to_string(index) + " was given by " + std::to_string(static_cast<int>(counts[index])) +
              " of " + std::to_string(all_.ranks()) + " ranks;";
    }
    throw Error(ErrorKind::failed, text + " in every step, all ranks must give the same tensors");
  }
  all_.allreduce(ready);

  const std::lock_guard lock(mutex_);
  std::erase_if(on_their_way_, [&](const auto& one) { return counts[one.first] == ranks; });
  if (on_their_way_.empty() && waiting_) std::exchange(waiting_, std::nullopt)->set_value();
}

}  // namespace lp
