#pragma once
// Follows a job of an engine to its end: one loop for all engines. For a launch that has submitted a job; one thread.

#include <optional>

#include "lp/base/scheduler.h"

namespace lp::launch {

inline constexpr int kInterrupted = 128 + 2;  // the exit code after Ctrl-C

// A job as follow() sees it.
class FollowedJob {
 public:
  virtual ~FollowedJob() = default;
  // Asks the engine for the state of the job. Throws Error when it does not answer; then it is asked again.
  virtual void ask() = 0;
  // Prints what is new since the last answer. Returns the exit code when the job has ended and all of its output is
  // printed. Output that comes by itself is added to `poller`.
  virtual std::optional<int> report(Poller& poller) = 0;
  // A descriptor that report() has added is ready. Returns true to ask the engine at once.
  virtual bool take_output(Poller& poller) = 0;
  // The first Ctrl-C: ends the job. The second one stops following it.
  virtual void cancel() = 0;
};

// Returns the exit code, or kInterrupted after the second Ctrl-C. Throws Error when the engine does not answer for two
// minutes.
int follow(FollowedJob& job);

}  // namespace lp::launch
