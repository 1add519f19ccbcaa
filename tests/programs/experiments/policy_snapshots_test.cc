// Snapshots of a policy while it learns: that they are those of the learner, and play as well.
#include "programs/experiments/policy_snapshots.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lp/checkpoint/stored_numbers.h"
#include "programs/agents/impala.h"
#include "programs/environments/environments.h"
#include "tests/directory.h"
#include "tests/programs/experiments/experiment_run.h"

namespace lp {
namespace {

Experiment experiment_with(const std::filesystem::path& directory, Duration period) {
  return {.agent = impala(),
          .environment = [] { return make_environment("catch"); },
          .steps = 200'000,
          .snapshots = SnapshotOptions{.directory = directory, .period = period, .keep = 2}};
}

TEST(PolicySnapshotsTest, ASavedPolicyPlaysAsWellAsTheLearners) {
  const test::Directory directory;
  const Experiment experiment = experiment_with(directory.path() / "snapshots", std::chrono::hours(1));
  ExperimentRun run(experiment);
  EXPECT_EQ(run.result().mean, 1);
  const auto snapshots = run.run.client(Handle<PolicySnapshots>("snapshots"));
  const std::string file = snapshots.call<&PolicySnapshots::save>();
  EXPECT_EQ(file, directory.path() / "snapshots" / "policy-200000.lpc");
  EXPECT_EQ(snapshots.call<&PolicySnapshots::save>(), file);
  const Learned learned = load_policy(file);
  EXPECT_EQ(numbers_of(Checkpoint::read(file), "parameters").bytes.size(), 4 * learned.parameters.size());  // for NumPy
  EXPECT_EQ(learned.steps, 200'000U);
  EXPECT_EQ(learned.updates, 1250U);
  EnvironmentBatch environments(experiment.environment, 20, 1);
  const auto policy = experiment.agent.policy(environments.spec());
  policy->set(learned);
  EXPECT_EQ(result_of(learned, play(environments, *policy)).mean, 1);
}

TEST(PolicySnapshotsTest, SavesByItselfAndKeepsTheNewestFiles) {
  const test::Directory directory;
  ExperimentRun(experiment_with(directory.path(), std::chrono::milliseconds(1))).result();
  std::size_t files = 0;
  for (const auto& one : std::filesystem::directory_iterator(directory.path())) {
    EXPECT_GT(load_policy(one.path()).parameters.size(), 0U);
    ++files;
  }
  EXPECT_EQ(files, 2U);
}

TEST(PolicySnapshotsTest, AFileThatIsNoPolicyIsRefused) {
  const test::Directory directory;
  std::ofstream(directory.path() / "policy-1.lpc") << "something else";
  EXPECT_THROW(load_policy(directory.path() / "policy-1.lpc"), Error);
  EXPECT_THROW(load_policy(directory.path() / "policy-2.lpc"), Error);
}

}  // namespace
}  // namespace lp
