// Any bytes as a YAML file give a configuration and placements, or an lp::Error. An accepted configuration survives
// being frozen.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/config/config_yaml.h"
#include "lp/config/group_placement.h"

namespace {

enum class Optimizer { sgd, adam };

struct Model {
  int hidden_size = 64;
  std::vector<int> layers{3, 4};

  static constexpr auto fields = lp::fields(lp::field("layers", "units of each layer", lp::at_least(1)));
};

struct Config {
  int workers = 4;
  double rate = 0.1;
  bool shuffle = false;
  std::string name = "run";
  std::vector<std::string> files{};
  std::optional<std::string> comment{};
  std::optional<float> decay{};
  std::uint64_t big = 7;
  Optimizer optimizer = Optimizer::sgd;
  Model model{};

  static constexpr auto fields = lp::fields(lp::field("workers", "number of workers", lp::range(1, 1024)),
                                            lp::field("rate", "learning rate", lp::positive));
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array<std::string, 1> kGroups{"groups"};
  const std::string file = "f.yaml";
  try {
    const lp::YamlNode root = lp::parse_yaml({reinterpret_cast<const char*>(data), size}, file);
    if (const lp::YamlNode* groups = root.find("groups")) lp::read_placements(*groups, file);
    Config config;
    lp::assign_yaml(lp::bind(config), root, file, kGroups);
    const std::string frozen = lp::to_yaml(config);
    if (lp::to_yaml(lp::from_yaml<Config>(frozen)) != frozen) std::abort();
  } catch (const lp::Error&) {
  }
  return 0;
}
