#include "lp/rpc/membership.h"

#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp::rpc {

void no_client(std::size_t position, std::size_t size) {
  throw Error(ErrorKind::failed, "there is no client at position " + std::to_string(position) + " of " +
                                     std::to_string(size) + ": positions count from 0");
}

Membership::Snapshot Membership::now() const {
  const std::lock_guard lock(mutex_);
  Snapshot snapshot{.epoch = epoch_, .replicas = {}};
  for (std::size_t replica = 0; replica < there_.size(); ++replica) {
    if (there_[replica]) snapshot.replicas.push_back(replica);
  }
  return snapshot;
}

Future<void> Membership::change(std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  Promise<void> promise;
  Future<void> future = promise.future();
  if (epoch_ != epoch) {
    promise.set_value();
  } else if (closed_) {
    promise.set_error(Error(ErrorKind::stopped, "the program is shutting down"));
  } else {
    std::erase_if(waiting_, [](const Promise<void>& one) { return !one.wanted(); });
    waiting_.push_back(std::move(promise));
  }
  return future;
}

void Membership::update(std::uint64_t epoch, std::span<const News> news) {
  std::vector<Promise<void>> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (epoch < epoch_) return;
    for (const News& one : news) there_[one.replica] = one.there;
    if (epoch > epoch_) waiting = std::exchange(waiting_, {});
    epoch_ = epoch;
  }
  for (Promise<void>& one : waiting) one.set_value();
}

void Membership::close() {
  std::vector<Promise<void>> waiting;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting = std::exchange(waiting_, {});
  }
  for (Promise<void>& one : waiting) one.set_error(Error(ErrorKind::stopped, "the program is shutting down"));
}

}  // namespace lp::rpc
