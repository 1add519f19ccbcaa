#pragma once
// The programs of a binary by name. A process of a run builds its program again from it. A value that main() makes; it
// never changes afterwards, and any thread may read it.

#include <functional>
#include <map>
#include <string>

#include "lp/config/config_yaml.h"
#include "lp/program/program.h"

namespace lp {

class Programs {
 public:
  // `make(const Config&)` returns the Program. It must be a pure function of the configuration.
  template <Aggregate Config, class Make>
  Programs& add(const std::string& name, Make make) {
    return add_builder(name, [make](const std::string& text) { return make(from_yaml<Config>(text)); });
  }
  // Adds a program without a configuration: `make()` returns it.
  template <class Make>
  Programs& add(const std::string& name, Make make) {
    return add_builder(name, [make](const std::string&) { return make(); });
  }

  // Builds the program `name` with the configuration that to_yaml wrote. Throws Error when there is no program of this
  // name.
  Program build(const std::string& name, const std::string& configuration) const;

 private:
  using Builder = std::function<Program(const std::string& configuration)>;
  Programs& add_builder(const std::string& name, Builder builder);

  std::map<std::string, Builder> builders_;
};

}  // namespace lp
