#pragma once
// A search by evolution that runs in this process, for tests.

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "programs/evolution/benchmark_functions.h"
#include "programs/evolution/evolution.h"
#include "programs/evolution/evolution_strategy.h"
#include "tests/lp/program/local_run.h"

namespace lp {

constexpr std::uint64_t kEvolutionSeed = 5;

inline Runtime::Options evolution_run_options(bool serialize = false, std::uint64_t seed = kEvolutionSeed) {
  Runtime::Options options;
  options.run.seed = seed;
  options.run.serialize = serialize;
  return options;
}

class EvolutionRun {
 public:
  explicit EvolutionRun(const Evolution& evolution, Runtime::Options options = evolution_run_options())
      : graph_(add_evolution(program_, evolution)), run(program_, std::move(options)) {}

 private:
  Program program_{"evolution"};
  const EvolutionGraph graph_;

 public:
  LocalRun run;

  Client<EvolutionLearner> learner() { return run.client(graph_.learner); }
  Client<Metrics> metrics() { return run.client(graph_.metrics); }
  EvolutionState state() { return learner().call<&EvolutionLearner::state>(); }

  // Waits for the end, and returns the parameters that the search ends with.
  std::vector<float> result() {
    run.wait_finished();
    for (const auto& [node, error] : run.failed()) ADD_FAILURE() << node << ": " << error.what();
    const Array<float> parameters = learner().read<&EvolutionLearner::learned>()->parameters;
    return {parameters.begin(), parameters.end()};
  }
};

// 20 generations of 10 pairs in 6 dimensions.
inline Evolution short_evolution(int workers = 2) {
  return {.search = {.method = evolution_strategy({.pairs = 10, .sigma = 0.3F, .adam = {.rate = 0.1F}}),
                     .objective = function_objective("rastrigin", 6),
                     .noise = {.table_size = 10'000},
                     .evaluations = 400,
                     .checkpoint_every = 5},
          .workers = workers};
}

}  // namespace lp
