#include "programs/evolution/objective.h"

#include "lp/base/error.h"

namespace lp {

std::unique_ptr<Objective> made_objective(const MakeObjective& make, std::uint64_t seed) {
  std::unique_ptr<Objective> made = make(seed);
  if (made == nullptr) throw_failed("the function that makes the objective has returned none");
  const auto fail = [&](const std::string& problem) {
    throw_failed("the objective \"" + made->name() + "\" " + problem);
  };
  if (made->size() == 0) fail("has no parameters: its size() is 0");
  const auto start = static_cast<std::size_t>(made->start(seed).size());
  if (start != made->size()) {
    fail("starts with " + std::to_string(start) + " parameters, but its size() is " + std::to_string(made->size()));
  }
  return made;
}

}  // namespace lp
