#include "tests/mistakes/common.h"

struct Both {
  void f(int) {}
  void f(float) {}
  static constexpr auto kOfInt = static_cast<void (Both::*)(int)>(&Both::f);
  using Remote = lp::Methods<kOfInt>;
};

void f(lp::Client<Both> both) { both.call<Both::kOfInt>(1); }
static_assert(lp::method_name<Both::kOfInt> == "f");
