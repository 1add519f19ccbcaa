// prints: lp: this class has a `run` that is not public

#include "tests/mistakes/common.h"

class Job {
  void run() {}
};

void f(lp::Program& program) { program.add<Job>({.name = "job"}); }
