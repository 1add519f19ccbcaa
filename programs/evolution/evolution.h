#pragma once
// A distributed search by evolution: a learner that has a distribution of points, workers that evaluate points, and
// metrics.
//
//     worker/0 ─┬─▶ learner ─▶ metrics
//     worker/1 ─┘
//
//   lp::add_evolution(program, {.search = {.method = lp::evolution_strategy(),
//                                          .objective = lp::function_objective("ackley", 10)},
//                               .workers = {2, 8}});
//
// Values; a pure function.

#include <string>

#include "lp/base/replicas.h"
#include "lp/program/program.h"
#include "nodes/metrics.h"
#include "programs/evolution/evolution_learner.h"

namespace lp {

struct Evolution {
  EvolutionOptions search{};
  Replicas workers = 2;  // {2, 8}: the search goes on with two of eight, and uses all that are there
  int restarts = 0;      // how often each failed node is restarted; then the program stops, or loses an elastic worker
  std::string device{};  // where the method computes, for the plan (GroupOptions::device)
};

struct EvolutionGraph {
  Handle<EvolutionLearner> learner;  // "learner"; also a ParameterSource, for a PolicyEvaluator
  Handle<Metrics> metrics;           // "metrics": "reward", "best" and the search's values, by steps
};

// Error::failed when an option does not fit.
EvolutionGraph add_evolution(Program& program, const Evolution& evolution);

}  // namespace lp
