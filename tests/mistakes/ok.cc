// The same without a mistake.

#include "tests/mistakes/common.h"

std::vector<float> f(lp::Client<Server> server) {
  server.call<&Server::push>(Update{1});
  return server.call<&Server::pull>(3);
}

void g(lp::Program& program) {
  auto server = program.add<Server>({.name = "server"});
  program.group<Worker>({.name = "worker", .replicas = 3}, server, lp::index);
}
