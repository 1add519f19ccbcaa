// prints: lp: a batched method takes one std::vector<Item> and returns a std::vector<Result>

#include "tests/mistakes/common.h"

using namespace lp::literals;

struct Model {
  float predict(float x) { return x; }
  using Remote = lp::Methods<lp::batched<&Model::predict, 32, 1_ms>>;
};

void f(lp::Program& program) { program.add<Model>({.name = "model"}); }
