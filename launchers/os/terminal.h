#pragma once
// The standard output and error of the launcher. A thread writes them, so that a slow or stopped terminal never stops
// the supervisor. Lines of nodes get a prefix, and on a terminal a progress line stands below them.
//
// Any thread may call it.

#include <memory>
#include <string>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

class Terminal {
 public:
  struct Options {
    int out = 1;
    int err = 2;
    // The writing thread calls it when the queue has nearly emptied after full() was true.
    Function<void()> drained{};
  };

  explicit Terminal(Options options);
  ~Terminal();  // waits up to a second for unwritten text, then drops it
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool colours(bool error) const;            // true when that stream is a terminal
  void write(bool error, std::string text);  // takes whole lines
  // Sets the last line of a terminal. Where there is no terminal, the line is printed from time to time. Empty: no
  // line.
  void progress(std::string line);
  bool full() const;  // so much text waits that nodes should not print more
  // Waits until everything is written. Returns false when `until` came first.
  bool flush(Time until);

 private:
  struct State;
  // shared with the writing thread, which may outlive this object in a write that never ends
  std::shared_ptr<State> state_;
  Thread thread_;
};

// Shows people a line of lp itself that they must not miss. Standard error gets it even when they asked for no output,
// and `terminal` is null.
void warn(Terminal* terminal, const std::string& text);

}  // namespace lp::launch
