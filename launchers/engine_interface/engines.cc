#include "launchers/engine_interface/engines.h"

#include <string>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {

std::vector<std::string_view> Engines::names() const {
  std::vector<std::string_view> names;
  for (const auto& engine : engines_) names.push_back(engine->type().name());
  return names;
}

const Engine* Engines::find(std::string_view name) const {
  for (const auto& engine : engines_) {
    if (engine->type().name() == name) return engine.get();
  }
  return nullptr;
}

const Engine& Engines::of(std::string_view name) const {
  if (const Engine* engine = find(name)) return *engine;
  std::vector<std::string> known;
  for (const std::string_view one : names()) known.emplace_back(one);
  throw Error(ErrorKind::failed,
              "there is no engine " + quote(name) + did_you_mean(name, known) + "; there are " + join(known, ", "));
}

}  // namespace lp::launch
