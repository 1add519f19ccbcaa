// prints: lp: the fields of this aggregate cannot be told apart: it has a C array

#include "tests/mistakes/common.h"

struct Weights {
  float values[3] = {};
};
struct Sink {
  void put(Weights) {}
  using Remote = lp::Methods<&Sink::put>;
};

void f(lp::Program& program) { program.add<Sink>({.name = "sink"}); }
