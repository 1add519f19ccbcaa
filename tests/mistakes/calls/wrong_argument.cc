// prints: lp: an argument does not fit the method's parameter
// shows: kNumber = 1; Given = const char (&)[7]; Parameter = int

#include "tests/mistakes/common.h"

void f(lp::Client<Server> server) { server.call<&Server::pull>("latest"); }
