#include "launchers/agent/program_registry.h"

#include <utility>

#include "lp/base/error.h"

namespace lp {

Programs& Programs::add_builder(const std::string& name, Builder builder) {
  if (!builders_.try_emplace(name, std::move(builder)).second) {
    throw Error(ErrorKind::failed, "two programs of this binary have the name " + name);
  }
  return *this;
}

Program Programs::build(const std::string& name, const std::string& configuration) const {
  const auto at = builders_.find(name);
  if (at != builders_.end()) return at->second(configuration);
  std::string known;
  for (const auto& [other, builder] : builders_) known += (known.empty() ? "" : ", ") + other;
  throw Error(ErrorKind::failed, "this binary has no program '" + name + "'; it has: " + known);
}

}  // namespace lp
