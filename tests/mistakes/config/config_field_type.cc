// prints: lp: a configuration cannot have a field of this type
#include <map>

#include "lp/config/bind.h"

struct Config {
  std::map<std::string, int> table;
};

lp::Binding use(Config& config) { return lp::bind(config); }
