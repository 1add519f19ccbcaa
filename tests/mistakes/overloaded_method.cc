// says: overloaded

#include "tests/mistakes/common.h"

struct Both {
  void f(int) {}
  void f(float) {}
  using Remote = lp::Methods<&Both::f>;
};
