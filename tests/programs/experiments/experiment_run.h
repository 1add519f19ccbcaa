#pragma once
// An experiment that runs in this process, for tests.

#include <string>
#include <utility>

#include "lp/lp.h"
#include "programs/environments/environments.h"
#include "programs/experiments/experiment.h"
#include "programs/experiments/experiment_report.h"
#include "tests/lp/program/local_run.h"

namespace lp {

constexpr std::uint64_t kExperimentSeed = 5;

// The environment of this name.
inline MakeEnvironment named(const std::string& name) {
  return [name] { return make_environment(name); };
}

inline Runtime::Options experiment_options(std::uint64_t seed = kExperimentSeed, bool serialize = false) {
  Runtime::Options options;
  options.run.seed = seed;
  options.run.serialize = serialize;
  return options;
}

class ExperimentRun {
 public:
  explicit ExperimentRun(const Experiment& experiment, Runtime::Options options = experiment_options())
      : experiment_(experiment), graph_(add_experiment(program_, experiment)), run(program_, std::move(options)) {}

 private:
  Program program_{"experiment"};
  const Experiment experiment_;
  const ExperimentGraph graph_;

 public:
  LocalRun run;

  Client<ParameterSource> learner() { return run.client(graph_.learner); }
  Client<PolicyEvaluator> evaluator() { return run.client(graph_.evaluator); }
  Client<Metrics> metrics() { return run.client(graph_.metrics); }

  // Waits for the end.
  ExperimentResult result() {
    run.wait_finished();
    for (const auto& [node, error] : run.failed()) ADD_FAILURE() << node << ": " << error.what();
    LostFiles lost;
    return report_experiment({learner(), evaluator()}, experiment_, kExperimentSeed, lost);
  }
};

}  // namespace lp
