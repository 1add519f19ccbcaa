// SINGA: the topology alone chooses the scheme.
#include "programs/schemes/topology.h"

#include <gtest/gtest.h>

#include "nodes/shared_vector.h"
#include "programs/training/synchronous.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::kSeed;
using test::TrainingRun;

ServerTraining topology_training(std::uint64_t steps, float rate = 0.1F) {
  return test::training_of(4, steps, rate, 2);
}
TrainingRun::Add in_groups(const ServerTraining& training, const Topology& topology) {
  return [=](Program& program) { return add_topology_training(program, digits_task(), training, topology); };
}

TEST(Topology, OneGroupIsSynchronous) {
  const ServerTraining training = topology_training(100);
  TrainingRun run(in_groups(training, {}));
  TrainingRun synchronous([&](Program& p) { return add_synchronous_training(p, digits_task(), training); });
  EXPECT_EQ(parameters_hash(run.result().values), parameters_hash(synchronous.result().values));
}

TEST(Topology, AGroupForEachWorkerIsDownpour) {
  TrainingRun run(in_groups(topology_training(100), {.worker_groups = 4}));
  run.finish();
  EXPECT_EQ(run.statistics().applied, 2U * 100);
  EXPECT_EQ(run.statistics().updates, 2U * 100);  // each when it arrives
}

TEST(Topology, GroupsOfTwoAreSynchronousInsideAndAsynchronousAmongEachOther) {
  TrainingRun run(in_groups(topology_training(100), {.worker_groups = 2}));
  run.finish();
  EXPECT_EQ(run.statistics().applied, 2U * 50);  // one sum of two workers
  EXPECT_EQ(run.statistics().updates, 2U * 50);
}

TEST(Topology, GroupsThatShareMemoryAreHogwild) {
  TrainingRun run(in_groups(topology_training(100), {.worker_groups = 4, .shared_memory = true}));
  run.finish();
  EXPECT_EQ(run.servers().size(), 0U);
  const SharedVectorView view(run.run().client(Handle<SharedVector>("vector")).call<&SharedVector::location>());
  for (std::uint32_t worker = 0; worker < 4; ++worker) EXPECT_EQ(view.progress(worker), 25U);
}

TEST(Topology, EveryOneReachesTheAccuracyOfSerialTraining) {
  const double expected = test::serial_accuracy();
  for (const int groups : {1, 2, 4}) {
    // A sum of two workers' batches allows twice the rate.
    TrainingRun run(in_groups(topology_training(1600, groups == 2 ? 0.2F : 0.1F), {.worker_groups = groups}), true);
    EXPECT_GE(run.accuracy(), expected - 0.01) << groups << " groups";
  }
}

TEST(Topology, GroupsThatDoNotFitAreRefused) {
  for (const Topology& wrong : {Topology{.worker_groups = 0}, Topology{.worker_groups = 5},
                                Topology{.worker_groups = 2, .shared_memory = true}}) {
    Program program("training");
    EXPECT_THROW(add_topology_training(program, digits_task(), topology_training(10), wrong), Error);
  }
}

}  // namespace
}  // namespace lp
