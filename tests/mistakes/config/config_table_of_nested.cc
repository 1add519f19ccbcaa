// prints: lp: a nested aggregate has a table `fields` of its own: put help texts and ranges there
#include "lp/config/bind.h"

struct Model {
  int hidden = 64;
};
struct Config {
  Model model;
  static constexpr auto fields = lp::fields(lp::field("model", "the model"));
};

lp::Binding use(Config& config) { return lp::bind(config); }
