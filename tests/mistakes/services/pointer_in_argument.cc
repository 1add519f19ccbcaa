// prints: lp: a pointer cannot be sent

#include "tests/mistakes/common.h"

struct Weights {
  float* values = nullptr;
};
struct Sink {
  void put(Weights) {}
  using Remote = lp::Methods<&Sink::put>;
};

void f(lp::Program& program) { program.add<Sink>({.name = "sink"}); }
