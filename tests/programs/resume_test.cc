// A training that has ended is resumed with more steps: every scheme whose servers take checkpoints does the remaining
// steps, and ends where one long run would, to the bit where it guarantees bits.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "launchers/run.h"
#include "nodes/parameters/federated_server.h"
#include "programs/schemes/asynchronous.h"
#include "programs/schemes/bounded_delay.h"
#include "programs/schemes/federated.h"
#include "programs/schemes/in_graph.h"
#include "programs/schemes/outer_product.h"
#include "programs/schemes/partitioned.h"
#include "programs/schemes/sliced.h"
#include "programs/schemes/softsync.h"
#include "programs/schemes/stale_synchronous.h"
#include "programs/schemes/tree_aggregate.h"
#include "programs/training/synchronous.h"
#include "tests/directory.h"
#include "tests/programs/training_run.h"

namespace lp::test {
namespace {

using Add = std::function<TrainingGraph(Program&, const LearningTask&, const ServerTraining&)>;

struct Outcome {
  std::uint64_t updates = 0;  // updates of the parameters since the first run began
  std::string hash{};
};

// Does all steps of a run in this directory, and goes on from another run if one is given. A cut is taken only at the
// end.
Outcome train(const Add& add, std::uint64_t steps, const std::filesystem::path& directory,
              const std::filesystem::path& resume = {}) {
  ServerTraining training = training_of(4, steps, 0.1F, 2);
  training.checkpoint_every = 0;
  Program program("training");
  const TrainingGraph graph = add(program, digits_task(), training);
  LaunchOptions options;
  options.launch = LaunchType::threads;
  options.seed = kSeed;
  options.directory = directory;
  options.resume = resume;
  Outcome out;
  const bool has_rounds = program.find("rounds").has_value();
  options.report = [&](lp::Run& run) {
    const auto servers = run.client(graph.servers);
    const Eigen::Index size = digits_task().model()->size();
    const Parameters parameters = trained_parameters(servers, run.client(graph.workers), size);
    out.hash = parameters_hash(parameters.values);
    out.updates = has_rounds ? run.client(Handle<FederatedServer>("rounds")).call<&FederatedServer::statistics>().rounds
                             : parameters.step;
  };
  lp::Run run(std::move(program), options);
  EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
  return out;
}

struct Case {
  std::string name;
  std::uint64_t updates;  // in twice kWholeRun
  bool bits;
  Add add;
};
constexpr std::uint64_t kWholeRun = 48;

class EverySchemeWithCheckpoints : public testing::TestWithParam<Case> {};

TEST_P(EverySchemeWithCheckpoints, DoesTheStepsThatAreLeftWhenItIsResumed) {
  const Case& scheme = GetParam();
  const Directory directory;
  train(scheme.add, kWholeRun, directory.path() / "begun");
  const Outcome resumed = train(scheme.add, 2 * kWholeRun, directory.path() / "resumed", directory.path() / "begun");
  EXPECT_EQ(resumed.updates, scheme.updates);
  if (!scheme.bits) return;
  EXPECT_EQ(resumed.hash, train(scheme.add, 2 * kWholeRun, directory.path() / "long").hash);
}

const Case kCases[] = {
    {"Synchronous", 2 * kWholeRun, true,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_synchronous_training(p, t, s); }},
    {"Backup", 2 * kWholeRun, false,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_synchronous_training(p, t, s, 1); }},
    {"InGraph", 2 * kWholeRun, true,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_in_graph_training(p, t, s); }},
    {"Sliced", 2 * kWholeRun, true,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_sliced_training(p, t, s); }},
    {"Partitioned", 2 * kWholeRun, true,
     [](Program& p, const LearningTask& t, ServerTraining s) {
       s.rule = Momentum{.rate = 0.05F};
       return add_partitioned_training(p, t, s, {.bytes = 1000, .credit = 2000});
     }},
    {"Asynchronous", 2 * kWholeRun, false,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_asynchronous_training(p, t, s); }},
    {"Downpour", 2 * kWholeRun / 4, false,
     [](Program& p, const LearningTask& t, const ServerTraining& s) {
       return add_asynchronous_training(p, t, s, {.fetch_every = 6, .push_every = 4});
     }},
    {"OuterProduct", 2 * kWholeRun, false,
     [](Program& p, const LearningTask& t, ServerTraining s) {
       s.batch = 8;  // so that no epoch ends, at which a slow worker leaves batches out
       return add_outer_product_training(p, t, s, {.units = {64, 24, 10}, .epoch_share = 1});
     }},
    {"BoundedDelay", 2 * kWholeRun, false,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_bounded_delay_training(p, t, s, 2); }},
    {"BoundedDelayOfNoSteps", 2 * kWholeRun, true,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_bounded_delay_training(p, t, s, 0); }},
    {"StaleSynchronous", 2 * kWholeRun, false,
     [](Program& p, const LearningTask& t, const ServerTraining& s) {
       return add_stale_synchronous_training(p, t, s, 2);
     }},
    {"Softsync", 2 * kWholeRun / 4, false,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_softsync_training(p, t, s, 1); }},
    {"Tree", 2 * kWholeRun / 2, false,
     [](Program& p, const LearningTask& t, const ServerTraining& s) { return add_softsync_training(p, t, s, 2, 2); }},
    {"TreeAggregate", 2 * kWholeRun, true,
     [](Program& p, const LearningTask& t, const ServerTraining& s) {
       return add_tree_aggregate_training(p, t, s, 3);
     }},
    {"Federated", 2 * kWholeRun, true,
     [](Program& p, const LearningTask& t, ServerTraining s) {
       s.checkpoint_every = s.steps;  // rounds
       return add_federated_training(p, t, s, {.share = 0.5});
     }},
};
INSTANTIATE_TEST_SUITE_P(Schemes, EverySchemeWithCheckpoints, testing::ValuesIn(kCases),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace lp::test
