// lp/README.md explains these words of the compiler.
// prints: incomplete type 'Early' used in nested name specifier

#include "tests/mistakes/common.h"

struct Early {
  using Remote = lp::Methods<&Early::push>;
  void push(int) {}
};
