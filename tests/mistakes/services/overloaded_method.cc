// lp/README.md explains these words of the compiler.
// prints: unable to deduce 'auto' from '& Both::f'

#include "tests/mistakes/common.h"

struct Both {
  void f(int) {}
  void f(float) {}
  using Remote = lp::Methods<&Both::f>;
};
