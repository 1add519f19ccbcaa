// prints: lp: no constructor of this node takes this number of arguments
// shows: kGiven = 1; long unsigned int kTaken = 2

#include "tests/mistakes/common.h"

void f(lp::Program& program) {
  auto server = program.add<Server>({.name = "server"});
  program.group<Worker>({.name = "worker", .replicas = 3}, server);
}
