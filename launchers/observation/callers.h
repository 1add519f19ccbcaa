#pragma once
// Which nodes may call a node, as the plan has it. Pure functions.

#include <set>
#include <string>
#include <vector>

#include "lp/program/plan.h"

namespace lp::launch {

std::vector<std::string> callers_of(const Plan& plan, const std::string& node);

// The callers of the node that do not wait in it, of which one may bring a value for which those in `waiting` wait.
struct MissingCallers {
  std::vector<std::string> likely{};
  std::vector<std::string> unlikely{};
  bool mates = false;  // the likely ones are replicas of those that wait
};

// Where a group has several callers of the node, and one of them waits, the others of it are expected to bring the
// value, as at a barrier. When all of them have come, a call of theirs that is `on_its_way` brings it; else any caller
// may.
MissingCallers missing_callers(const Plan& plan, const std::string& node, const std::set<std::string>& waiting,
                               bool on_its_way);

}  // namespace lp::launch
