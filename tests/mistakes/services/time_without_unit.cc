// prints: lp: lp::deadline<method, time> takes a time with its unit, as 60_s

#include "tests/mistakes/common.h"

struct Model {
  float predict(float x) { return x; }
  using Remote = lp::Methods<lp::deadline<&Model::predict, 60>>;
};
