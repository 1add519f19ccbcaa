#include "tests/launchers/engines_for_test.h"

namespace lp::test {

const launch::Engines& test_engines() {
  static const launch::Engines all = [] {
    launch::Engines engines = launch::standard_engines();
    engines.add(local_engine());
    return engines;
  }();
  return all;
}

}  // namespace lp::test
