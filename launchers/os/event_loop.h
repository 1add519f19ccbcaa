#pragma once
// The one thread in which a run is supervised waits here: for file descriptors, and for what other threads post.
//
// post() is for any thread; everything else for the one that waits.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

class Loop {
 public:
  struct Ready {
    bool readable = false;
    bool writable = false;
  };

  // Runs `task` in the loop's thread, soon. After close() it is dropped.
  void post(Function<void()> task);
  void close();

  void watch(int fd, Function<void(Ready)> handler);
  void want_writable(int fd, bool wanted);
  void unwatch(int fd);

  // Waits until something is there, or `until`.
  void wait(Time until);
  // Handles what wait() found. True when there was anything.
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
  std::map<int, std::shared_ptr<Watch>> watches_;  // shared with dispatch, in which a handler may unwatch itself
  std::vector<Poller::Ready> ready_;
};

}  // namespace lp::internal
