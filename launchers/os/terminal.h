#pragma once
// The standard output and error of the launcher: a thread writes, so that a slow or stopped terminal never stops the
// supervisor. Lines of nodes get a prefix; a progress line stands below them on a terminal.
//
// Any thread may call.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "lp/base/function.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

class Terminal {
 public:
  struct Options {
    int out = 1;
    int err = 2;
    // Called by the writing thread when so little is left that more may come, after full() was true.
    Function<void()> drained{};
  };

  explicit Terminal(Options options);
  ~Terminal();  // what could not be written within a second is dropped
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool colours(bool error) const;            // that stream is a terminal
  void write(bool error, std::string text);  // whole lines
  // What stands in the last line of a terminal from now on; elsewhere it is a line, now and then. Empty: none.
  void progress(std::string line);
  bool full() const;  // so much waits that nodes should not print more
  // Waits until everything is written; false when `until` came first.
  bool flush(Time until);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the writing thread, which may stay behind in a write that never ends
  Thread thread_;
};

}  // namespace lp::internal
