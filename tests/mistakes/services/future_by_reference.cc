// prints: lp: a handler that returns a Future or a Stream outlives its arguments

#include "tests/mistakes/common.h"

struct Waiter {
  lp::Future<int> wait(const std::vector<int>& values);
  using Remote = lp::Methods<&Waiter::wait>;
};

void f(lp::Program& program) { program.add<Waiter>({.name = "waiter"}); }
