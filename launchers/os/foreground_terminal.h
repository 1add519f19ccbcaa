#pragma once
// Lends the terminal to a debugger and takes it back.

namespace lp::launch {

// While an object lives, another process group may own the terminal. Its destructor returns the terminal to this group.
class ForegroundTerminal {
 public:
  explicit ForegroundTerminal(bool lent) : lent_(lent) {}
  ~ForegroundTerminal();
  ForegroundTerminal(const ForegroundTerminal&) = delete;
  ForegroundTerminal& operator=(const ForegroundTerminal&) = delete;

 private:
  bool lent_;
};

}  // namespace lp::launch
