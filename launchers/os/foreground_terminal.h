#pragma once
// Gives the terminal to a debugger and takes it back.

namespace lp::internal {

// While it lives, another process group may have the terminal; afterwards this one has it again.
class ForegroundTerminal {
 public:
  explicit ForegroundTerminal(bool lent) : lent_(lent) {}
  ~ForegroundTerminal();
  ForegroundTerminal(const ForegroundTerminal&) = delete;
  ForegroundTerminal& operator=(const ForegroundTerminal&) = delete;

 private:
  bool lent_;
};

}  // namespace lp::internal
