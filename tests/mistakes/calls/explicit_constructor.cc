// prints: lp: an argument does not fit the method's parameter

#include "tests/mistakes/common.h"

struct Sink {
  void put(std::vector<float>) {}
  using Remote = lp::Methods<&Sink::put>;
};

void f(lp::Client<Sink> sink) { sink.call<&Sink::put>(5); }  // not a vector of five
