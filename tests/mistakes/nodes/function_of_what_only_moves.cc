// prints: lp: every incarnation of a node gets a copy of its function

#include <memory>

#include "tests/mistakes/common.h"

void f(lp::Program& program) {
  program.function({.name = "job"}, [owned = std::make_unique<int>(1)] { (void)owned; });
}
