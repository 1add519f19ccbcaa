#include "launchers/os/event_loop.h"

#include <utility>

namespace lp::launch {

void EventLoop::post(Function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    posted_.push_back(std::move(task));
    if (posted_.size() > 1) return;  // the loop has already been woken
  }
  poller_.wake();
}

void EventLoop::close() {
  std::vector<Function<void()>> dropped;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(posted_);
}

void EventLoop::watch(int fd, Function<void(Ready)> handler) {
  poller_.add(fd, static_cast<std::uint64_t>(fd));
  watches_[fd] = std::make_shared<Watch>(Watch{std::move(handler), false});
}

void EventLoop::want_writable(int fd, bool wanted) {
  const auto at = watches_.find(fd);
  if (at == watches_.end() || at->second->writable == wanted) return;
  at->second->writable = wanted;
  poller_.change(fd, static_cast<std::uint64_t>(fd), wanted);
}

void EventLoop::unwatch(int fd) {
  if (watches_.erase(fd) > 0) poller_.remove(fd);
}

void EventLoop::wait(Time until) {
  ready_.resize(16);
  ready_.resize(poller_.wait(ready_, until));
}

bool EventLoop::dispatch() {
  std::vector<Function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (Function<void()>& task : tasks) task();
  for (const Poller::Ready& ready : ready_) {
    const auto at = watches_.find(static_cast<int>(ready.tag));
    if (at == watches_.end()) continue;
    const std::shared_ptr<Watch> watch = at->second;
    watch->handler({ready.readable, ready.writable});
  }
  const bool any = !tasks.empty() || !ready_.empty();
  ready_.clear();
  return any;
}

}  // namespace lp::launch
