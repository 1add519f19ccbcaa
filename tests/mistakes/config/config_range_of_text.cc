// prints: lp: the table `fields` gives a range to a field that holds no numbers; see the name above
#include "lp/config/bind.h"

struct Config {
  std::string name;
  static constexpr auto fields = lp::fields(lp::field("name", "of the run", lp::positive));
};

lp::Binding use(Config& config) { return lp::bind(config); }
