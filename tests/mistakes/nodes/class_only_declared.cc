// prints: lp: this class is only declared so far

#include "tests/mistakes/common.h"

struct Later;
void f(lp::Client<Later> later) { later.call<&Server::pull>(1); }
