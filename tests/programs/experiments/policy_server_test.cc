// Actors that hold no policy and ask inference servers: what they learn, which version acts, and restarts.
#include "programs/experiments/policy_server.h"

#include <gtest/gtest.h>

#include <string>

#include "programs/agents/dqn.h"
#include "programs/agents/impala.h"
#include "programs/agents/ppo.h"
#include "programs/environments/environments.h"
#include "programs/experiments/queue_trainer.h"
#include "tests/programs/experiments/experiment_run.h"

namespace lp {
namespace {

Experiment experiment_on(const std::string& environment, Agent agent, std::uint64_t steps, int servers) {
  return {.agent = std::move(agent),
          .environment = [environment] { return make_environment(environment); },
          .inference_servers = servers,
          .steps = steps};
}

ServingStatistics statistics_of(ExperimentRun& run, const std::string& server) {
  return run.run.client(Handle<PolicyServer>(server)).call<&PolicyService::statistics>();
}

TEST(PolicyServerTest, ImpalaLearnsToCatchEveryBall) {
  ExperimentRun run(experiment_on("catch", impala(), 200'000, 1));
  EXPECT_EQ(run.result().mean, 1);
  const ServingStatistics statistics = statistics_of(run, "policy_server/0");
  EXPECT_GE(statistics.asked, 200'000U / 8);  // an actor has 8 copies
  EXPECT_EQ(statistics.failed + statistics.shed, 0U);
}

// In rounds every actor acts by the newest parameters, and by no others.
TEST(PolicyServerTest, PpoActsByTheParametersOfItsRound) {
  ExperimentRun run(experiment_on("catch", ppo(), 30'000, 2));
  EXPECT_EQ(run.result().mean, 1);
  for (const char* server : {"policy_server/0", "policy_server/1"}) {
    const ServingStatistics statistics = statistics_of(run, server);
    EXPECT_GT(statistics.answered, 0U);
    EXPECT_EQ(statistics.failed + statistics.shed, 0U);
  }
}

TEST(PolicyServerTest, DqnLearnsToCatchNearlyEveryBall) {
  ExperimentRun run(experiment_on("catch", dqn({.network = dense_network({64}, Unit::relu)}), 15'000, 1));
  EXPECT_GE(run.result().mean, 0.9);
}

TEST(PolicyServerTest, AServerThatIsRestartedServesOn) {
  ExperimentRun run(experiment_on("cartpole", impala(), 16'000, 1));
  for (int i = 0; i < 3; ++i) run.run.restart({"policy_server/0"});
  EXPECT_EQ(run.result().updates, 100U);
}

TEST(PolicyServerTest, AnObservationOfAnotherShapeIsRefused) {
  ExperimentRun run(experiment_on("cartpole", impala(), 1'000'000, 1));
  const auto server = run.run.client(Handle<PolicyServer>("policy_server/0"));
  try {
    server.call<&PolicyService::ask>(Observed{.observations = Eigen::MatrixXf::Zero(3, 2)}, 0U);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    EXPECT_NE(error.text().find("an observation has 3 values, but those of this environment have 4"), std::string::npos)
        << error.text();
  }
}

// The learner's queue gets segments of versions 0, 0, 1 and 1, where it takes those of the present version alone.
TEST(QueueTrainerTest, DropsAndCountsSegmentsOfAPolicyThatIsOlderThanAllowed) {
  const MakeEnvironment environment = [] { return make_environment("cartpole"); };
  const QueueOptions options{
      .agent = impala({.copies = 2, .steps = 3, .most_age = 0}), .environment = environment, .updates = 2};
  Program program("queue");
  const auto metrics = program.add<Metrics>({.name = "metrics"});
  const auto queue = program.add<SegmentQueue>({.name = "queue"}, std::size_t{10});
  const auto learner = program.add<QueueTrainer>({.name = "learner"}, context, queue, metrics, options);
  LocalRun run(program);
  EnvironmentBatch environments(environment, 2, 1);
  const auto policy = options.agent.policy(environments.spec());
  policy->set(*run.client(learner).read<&ParameterSource::learned>());
  Random random(1, "segments");
  for (const std::uint64_t updates : {0U, 0U, 1U, 1U}) {
    Segment segment = act_out(environments, *policy, random, 3);
    segment.updates = updates;
    run.client(queue).call<&SegmentQueue::put>(segment);
  }
  run.wait_finished();
  const TrainingCounts counts = run.client(learner).call<&ParameterSource::counts>();
  EXPECT_EQ(counts.updates, 2U);
  EXPECT_EQ(counts.stale, 1U);
  EXPECT_EQ(counts.steps, 12U);
}

}  // namespace
}  // namespace lp
