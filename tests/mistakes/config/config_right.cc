#include <optional>
#include <string>
#include <vector>

#include "lp/config/bind.h"

enum class Optimizer { sgd, adam };
struct Model {
  int hidden = 64;
  static constexpr auto fields = lp::fields(lp::field("hidden", "units", lp::at_least(1)));
};
struct Config {
  int workers = 4;
  std::vector<float> rates;
  std::optional<std::string> name;
  Optimizer optimizer = Optimizer::sgd;
  Model model;
  static constexpr auto fields =
      lp::fields(lp::field("workers", "number of workers", lp::range(1, 1024)),
                 lp::field("rates", "learning rates", lp::positive), lp::field("name", "of the run"));
};

lp::Binding use(Config& config) { return lp::bind(config); }
