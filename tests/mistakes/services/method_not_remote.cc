// prints: lp: this method is not in the service's lp::Methods<...>

#include "tests/mistakes/common.h"

void f(lp::Client<Server> server) { server.call<&Server::secret>(); }
