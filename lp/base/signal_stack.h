#pragma once
// A stack for the signal handlers of one thread, because the thread's own stack may have overflowed. Owned by that
// thread, on its stack.

namespace lp::internal {

class SignalStack {
 public:
  // Takes no memory before a handler runs on it. Does nothing if the thread has one, as a sanitizer's threads do, and
  // if the system has no room for it.
  SignalStack() noexcept;
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  void* memory_ = nullptr;
};

}  // namespace lp::internal
