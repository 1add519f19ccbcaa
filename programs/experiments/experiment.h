#pragma once
// A distributed program of an agent and an environment: actors, a learner that they take parameters from, an evaluator
// that plays beside them, and the metrics of both.
//
//     actor/0 ─┬─▶ learner ─▶ metrics
//     actor/1 ─┘      ▲          ▲
//                 evaluator ─────┘
//
// With inference servers, actors hold no policy, and ask for their actions (policy_server.h):
//
//     actor/0 ─┬─▶ policy_server/0 ─▶ learner
//     actor/1 ─┘
//
//   lp::add_experiment(program, {.agent = lp::ppo(), .environment = [] { return lp::make_environment("cartpole"); }});
//
// Values; a pure function.

#include <cstdint>
#include <optional>

#include "lp/program/program.h"
#include "nodes/metrics.h"
#include "nodes/snapshot_files.h"
#include "programs/agents/agent.h"
#include "programs/environments/environment.h"
#include "programs/experiments/parameter_source.h"
#include "programs/experiments/policy_evaluator.h"

namespace lp {

struct Experiment {
  Agent agent{};
  MakeEnvironment environment{};
  int actors = 2;
  int inference_servers = 0;            // that actors ask for their actions; 0: every actor has a policy of its own
  std::uint64_t steps = 100'000;        // environment steps of all actors; then the program ends, unless it is kEndless
  PlayOptions evaluation{};             // with a goal, the program ends as soon as it is reached
  std::uint64_t checkpoint_every = 50;  // rounds or updates of the learner from one to the next; 0: one at the end
  std::optional<SnapshotOptions> snapshots{};  // files with the policy, beside the checkpoints
  int restarts = 0;                            // how often each failed node is restarted; then the program stops
};

struct ExperimentGraph {
  Handle<ParameterSource> learner;    // "learner"
  Handle<PolicyEvaluator> evaluator;  // "evaluator"
  Handle<Metrics> metrics;            // "metrics": "reward", "evaluation" and the agent's losses by environment steps
};

// Before the start: makes an environment, a policy and a learner, as the nodes will. Error::failed when there is no
// such environment, or when the agent cannot act in it.
void check_environment(const Experiment& experiment);

// Error::failed when an option does not fit.
ExperimentGraph add_experiment(Program& program, const Experiment& experiment);

}  // namespace lp
