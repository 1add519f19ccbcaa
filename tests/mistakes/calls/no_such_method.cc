// prints: 'pul' is not a member of 'Server'

#include "tests/mistakes/common.h"

void f(lp::Client<Server> server) { server.call<&Server::pul>(3); }
