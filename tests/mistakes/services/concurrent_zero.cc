// prints: lp: lp::concurrent<method, limit, queue> takes a positive limit

#include "tests/mistakes/common.h"

struct Model {
  float predict(float x) { return x; }
  using Remote = lp::Methods<lp::concurrent<&Model::predict, 0>>;
};
