#pragma once
// Turns Ctrl-C and similar signals into a descriptor to poll. SIGUSR2 is one of them: Slurm sends it when a job's time
// is nearly over. A process has only one set of signal handlers, so only one object may exist at a time.

#include <signal.h>

#include <vector>

namespace lp::launch {

// A signal, and its earlier effect.
struct SignalAction {
  int signal = 0;
  struct sigaction action {};
};

class SignalPoller {
 public:
  // Catches SIGINT, SIGTERM, SIGHUP and SIGUSR2. The destructor restores the earlier handlers. Throws Error when
  // another object exists.
  SignalPoller();
  ~SignalPoller();
  SignalPoller(const SignalPoller&) = delete;
  SignalPoller& operator=(const SignalPoller&) = delete;

  int fd() const { return read_; }  // readable when a signal has arrived
  int take();                       // returns the signal's number; 0: none has arrived

 private:
  int read_ = -1;
  int write_ = -1;
  std::vector<SignalAction> before_;
};

// Keeps the process of a run that has ended until its result is out: from ignore() on, a signal that arrives when the
// run's SignalPoller is gone does nothing. Before, it ends the process as ever. The destructor restores the earlier
// handlers. One object at a time, which is made before the SignalPoller and outlives it.
class LateSignals {
 public:
  LateSignals();
  ~LateSignals();
  LateSignals(const LateSignals&) = delete;
  LateSignals& operator=(const LateSignals&) = delete;

  void ignore();

 private:
  std::vector<SignalAction> before_;
};

}  // namespace lp::launch
