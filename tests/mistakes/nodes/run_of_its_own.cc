// A service may have a `run` that means something else.

#include "tests/mistakes/common.h"

struct Executor {
  int run(std::vector<int> jobs) { return static_cast<int>(jobs.size()); }
  using Remote = lp::Methods<&Executor::run>;
};
class Sealed final {
 public:
  void run() {}
};

void f(lp::Program& program) {
  program.add<Executor>({.name = "executor"});
  program.add<Sealed>({.name = "sealed"});
}
