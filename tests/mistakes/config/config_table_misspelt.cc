// prints: lp: the table `fields` names a field that this configuration does not have; see the name above
#include "lp/config/bind.h"

struct Config {
  int workers = 4;
  static constexpr auto fields = lp::fields(lp::field("wrkers", "number of workers"));
};

lp::Binding use(Config& config) { return lp::bind(config); }
