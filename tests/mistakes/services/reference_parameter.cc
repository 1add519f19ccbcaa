// prints: lp: a remote method takes values; a non-const reference cannot cross a process: return the result

#include "tests/mistakes/common.h"

struct Filler {
  void fill(std::vector<float>& out) { out.clear(); }
  using Remote = lp::Methods<&Filler::fill>;
};

void f(lp::Program& program) { program.add<Filler>({.name = "filler"}); }
