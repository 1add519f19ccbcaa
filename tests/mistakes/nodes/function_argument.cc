// prints: lp: one argument does not fit this node
// shows: kNumber = 2
// shows: Argument = const char*

#include "tests/mistakes/common.h"

void f(lp::Program& program) {
  auto server = program.add<Server>({.name = "server"});
  program.function(
      {.name = "job"}, [](lp::Client<Server>, int) {}, server, "three");
}
