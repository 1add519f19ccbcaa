// says: lp:

#include "tests/mistakes/common.h"

void f(lp::Program& program) {
  auto server = program.add<Server>({.name = "server"});
  program.group<Worker>({.name = "worker", .replicas = 3}, server);
}
