#pragma once
// The result of an experiment that has ended: how good the learned policy is, and how it became so. One thread.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "lp/rpc/client.h"
#include "nodes/lost_files.h"
#include "programs/experiments/experiment.h"
#include "programs/experiments/parameter_source.h"
#include "programs/experiments/policy_snapshots.h"
#include "programs/experiments/reported_series.h"

namespace lp {

struct ExperimentResult {
  double mean = 0;  // mean reward of 100 new episodes, played by the best actions of the learned policy
  double least = 0;
  double most = 0;
  int episodes = 0;
  std::uint64_t steps = 0;  // environment steps that the policy has learned from
  std::uint64_t updates = 0;
  std::string parameters_hash{};  // equal for the same bits
  std::string snapshot{};         // the file with the learner's last policy, on its node's host; empty: none is kept
};

// The nodes of an experiment that know its result.
struct ExperimentNodes {
  Client<ParameterSource> learner;
  Client<PolicyEvaluator> evaluator;
  std::optional<Client<PolicySnapshots>> snapshots{};
  ReadSeries series{};  // what the learner and the evaluator have reported; empty: nothing
};

// The nodes of the experiment in an lp::Run, which they need as long as they are used.
template <class Run>
ExperimentNodes experiment_nodes(Run& run) {
  ExperimentNodes nodes{.learner = run.template client<ParameterSource>("learner"),
                        .evaluator = run.template client<PolicyEvaluator>("evaluator"),
                        .series = reported_series(run)};
  if (run.program().find_group("snapshots") != nullptr) {
    nodes.snapshots = run.template client<PolicySnapshots>("snapshots");
  }
  return nodes;
}

// Plays 100 episodes, which the seed decides, by the learner's last policy, or, in an experiment with a goal, by the
// one that was evaluated best. Saves a last snapshot. Prints the result. If `curve` is not empty, draws the rewards
// over the steps into this SVG file: none for a run without a directory, which keeps no values. A file that cannot be
// written is in `lost`, and costs no result. Errors as EnvironmentBatch::step.
ExperimentResult report_experiment(const ExperimentNodes& nodes, const Experiment& experiment, std::uint64_t seed,
                                   LostFiles& lost, const std::filesystem::path& curve = {});

}  // namespace lp
