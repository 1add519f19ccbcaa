// prints: lp: wrong number of arguments for this method

#include "tests/mistakes/common.h"

void f(lp::Client<Server> server) { server.call<&Server::pull>(1, 2); }
