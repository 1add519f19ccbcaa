#include "tests/launchers/engines_for_test.h"

namespace lp::test {

const internal::Engines& test_engines() {
  static const internal::Engines all = [] {
    internal::Engines engines = internal::standard_engines();
    engines.add(local_engine());
    return engines;
  }();
  return all;
}

}  // namespace lp::test
