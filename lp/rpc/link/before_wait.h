#pragma once
// A duty that the current thread must hand over to others before it waits for something. One duty is to receive from a
// link; another is to send the replies that the thread holds back. A part of a transport derives from BeforeWait and
// stands on the thread's stack. The core, which knows no transport by name, calls hand_over_all(). Owned and used by
// one thread.

#include <utility>

namespace lp::rpc {

class BeforeWait {
 public:
  BeforeWait(const BeforeWait&) = delete;
  BeforeWait& operator=(const BeforeWait&) = delete;

  // Called by any thread before it waits: hands over all duties of the thread, the newest first.
  static void hand_over_all() noexcept {
    for (BeforeWait* one = t_newest; one != nullptr; one = one->older_) one->hand_over();
  }

 protected:
  BeforeWait() noexcept : older_(std::exchange(t_newest, this)) {}
  ~BeforeWait() { t_newest = older_; }
  virtual void hand_over() noexcept = 0;

 private:
  static inline thread_local constinit BeforeWait* t_newest = nullptr;
  BeforeWait* const older_;
};

}  // namespace lp::rpc
