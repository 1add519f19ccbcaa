// prints: lp: one argument does not fit this node
// shows: kNumber = 1; Argument = lp::Client<Other>

#include "tests/mistakes/common.h"

struct Other {
  int x() { return 1; }
  using Remote = lp::Methods<&Other::x>;
};

void f(lp::Program& program) {
  auto other = program.add<Other>({.name = "other"});
  program.group<Worker>({.name = "worker", .replicas = 3}, other, lp::index);
}
