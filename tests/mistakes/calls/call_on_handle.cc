// prints: has no member named 'call'

#include "tests/mistakes/common.h"

void f(lp::Program& program) { program.add<Server>({.name = "server"}).call<&Server::pull>(1); }
