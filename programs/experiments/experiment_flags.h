#pragma once
// The configuration of a program that trains an agent: the flags that such programs have in common. A value.
//
//   struct Defaults {
//     static constexpr const char* kEnvironment = "cartpole";
//     static constexpr const char* kEnvironments = "acrobot or cartpole";
//     static constexpr int kActors = 2;
//     static constexpr std::uint64_t kSteps = 100'000;
//     static constexpr std::uint64_t kCheckpointEvery = 50;
//   };
//   using Config = lp::ExperimentFlags<Defaults>;

#include <cstdint>
#include <string>
#include <utility>

#include "lp/base/file.h"
#include "lp/config/config.h"
#include "programs/environments/environments.h"
#include "programs/experiments/experiment.h"

namespace lp {

template <class Defaults>
struct ExperimentFlags {
  std::string environment = Defaults::kEnvironment;
  int actors = Defaults::kActors;
  int inference_servers = 0;
  std::uint64_t steps = Defaults::kSteps;
  std::optional<double> goal{};
  int restarts = 0;
  std::uint64_t checkpoint_every = Defaults::kCheckpointEvery;
  std::string snapshots{};
  std::string plot{};

  static constexpr auto fields = lp::fields(
      field("environment", Defaults::kEnvironments), field("actors", "nodes that act", range(1, 64)),
      field("inference_servers", "nodes that choose the actions for actors; 0: each actor has its own policy",
            range(0, 16)),
      field("steps",
            "the training ends after this number of steps of all environments together, or some more: a round that was "
            "begun is finished, and many actors may be ahead of the learner",
            at_least(1), changeable),
      field("goal", "the training ends at this mean reward of 100 episodes", changeable),
      field("restarts", "how often a failed node is restarted before the program stops", non_negative, changeable),
      field("checkpoint_every",
            "rounds or updates of the learner from one checkpoint to the next; 0: only one at the end", changeable),
      field("snapshots", "write the policy into a file in this directory once a minute, and at the end", changeable),
      field("plot", "draw the rewards over the steps into this SVG file", changeable));
};

// The experiment that these flags ask for.
template <class Defaults>
Experiment experiment_of(const ExperimentFlags<Defaults>& flags, Agent agent) {
  Experiment experiment{.agent = std::move(agent),
                        .environment = [name = flags.environment] { return make_environment(name); },
                        .actors = flags.actors,
                        .inference_servers = flags.inference_servers,
                        .steps = flags.steps,
                        .checkpoint_every = flags.checkpoint_every,
                        .restarts = flags.restarts};
  if (!flags.snapshots.empty()) experiment.snapshots = SnapshotOptions{.directory = flags.snapshots};
  experiment.evaluation.goal = flags.goal;
  return experiment;
}

// Before the start: Error::failed when the agent cannot act in the environment, or a file could not be written.
template <class Defaults>
void prepare_experiment(const ExperimentFlags<Defaults>& flags, const Experiment& experiment) {
  check_environment(experiment);
  if (!flags.snapshots.empty()) check_output_directory("--snapshots", flags.snapshots);
  if (!flags.plot.empty()) check_output_file("--plot", flags.plot);
}

}  // namespace lp
