// prints: lp: this class has no `using Remote = lp::Methods<...>;`

#include "tests/mistakes/common.h"

struct Plain {
  int x() { return 1; }
};

void f(lp::Client<Plain> plain) { plain.call<&Plain::x>(); }
