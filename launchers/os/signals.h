#pragma once
// Turns Ctrl-C and similar signals into a descriptor to poll. SIGUSR2 is one of them: Slurm sends it when a job's time
// is nearly over. A process has only one set of signal handlers, so only one object may exist at a time.

#include <vector>

namespace lp::launch {

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
  struct Before;
  int read_ = -1;
  int write_ = -1;
  std::vector<Before> before_;
};

}  // namespace lp::launch
