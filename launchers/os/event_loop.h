#pragma once
// The event loop of the one thread that supervises a run. It waits for file descriptors and for tasks that other
// threads post.
//
// Any thread may call post(). Only the thread that waits may call the rest.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

class EventLoop {
 public:
  struct Ready {
    bool readable = false;
    bool writable = false;
  };

  // Runs `task` soon in the loop's thread. After close() the task is dropped.
  void post(Function<void()> task);
  void close();

  void watch(int fd, Function<void(Ready)> handler);
  void want_writable(int fd, bool wanted);
  void unwatch(int fd);

  // Waits until there is something to handle, or until `until`.
  void wait(Time until);
  // Handles what wait() found. Returns true when there was anything.
  bool dispatch();

 private:
  struct Watch {
    Function<void(Ready)> handler;
    bool writable = false;
  };

  Poller poller_;
  std::mutex mutex_;
  std::vector<Function<void()>> posted_;
  bool closed_ = false;
  std::map<int, std::shared_ptr<Watch>> watches_;  // dispatch() shares them, because a handler may unwatch itself
  std::vector<Poller::Ready> ready_;
};

}  // namespace lp::internal
