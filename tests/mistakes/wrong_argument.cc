// says: lp: these arguments do not fit the method's parameters

#include "tests/mistakes/common.h"

void f(lp::Client<Server> server) { server.call<&Server::pull>("latest"); }
