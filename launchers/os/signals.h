#pragma once
// Ctrl-C and its like, as something to poll; and SIGUSR2, by which Slurm says that a job's time is nearly over. A
// process has only one set of signal handlers, so there is one at a time.

#include <vector>

namespace lp::internal {

class Interrupts {
 public:
  // Catches SIGINT, SIGTERM, SIGHUP and SIGUSR2 until it is destroyed; then what was before holds again. Throws Error
  // when another one is there.
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  int fd() const { return read_; }  // readable when a signal came
  int take();                       // its number; 0: there is none

 private:
  struct Before;
  int read_ = -1;
  int write_ = -1;
  std::vector<Before> before_;
};

}  // namespace lp::internal
