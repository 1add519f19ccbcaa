// prints: lp: a pointer cannot be sent

#include <mutex>

#include "tests/mistakes/common.h"

struct Source {
  std::mutex* get() { return nullptr; }
  using Remote = lp::Methods<&Source::get>;
};

void f(lp::Program& program) { program.add<Source>({.name = "source"}); }
