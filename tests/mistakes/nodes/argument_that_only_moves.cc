// prints: lp: every incarnation of a node gets a copy of its arguments
// shows: kNumber = 2

#include <memory>

#include "tests/mistakes/common.h"

struct Owner {
  Owner(int, std::unique_ptr<int>) {}
};

void f(lp::Program& program) { program.add<Owner>({.name = "owner"}, 1, std::make_unique<int>(1)); }
