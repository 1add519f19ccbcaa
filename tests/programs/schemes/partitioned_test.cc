// Tensors in partitions, which travel by urgency and within a credit, as in BytePS.

#include "programs/schemes/partitioned.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <vector>

#include "programs/training/synchronous.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::hash_of_training;
using test::kSeed;
using test::model_size;
using test::training_of;
using test::TrainingRun;

TEST(CreditScheduler, TheMostUrgentThatWaitsGoesNextWithinTheCredit) {
  CreditScheduler scheduler(10);
  scheduler.add(3, 3, 4);
  EXPECT_EQ(scheduler.next(), 3U);
  scheduler.add(2, 2, 4);
  EXPECT_EQ(scheduler.next(), 2U);
  scheduler.add(1, 1, 4);
  scheduler.add(0, 0, 4);
  EXPECT_EQ(scheduler.next(), std::nullopt);  // 8 of 10 are used
  EXPECT_EQ(scheduler.in_flight(), 8U);
  scheduler.done(3);
  EXPECT_EQ(scheduler.next(), 0U);  // overtakes 1, which has waited for longer
  scheduler.done(2);
  EXPECT_EQ(scheduler.next(), 1U);
  scheduler.done(0);
  scheduler.done(1);
  EXPECT_TRUE(scheduler.idle());
  EXPECT_THROW(scheduler.done(1), Error);
  scheduler.add(7, 0, 100);  // larger than the credit, but alone
  EXPECT_EQ(scheduler.next(), 7U);
  EXPECT_EQ(scheduler.next(), std::nullopt);
}

// A server that records the partitions that arrive, in their order.
class NotingServer final : public ParameterService {
 public:
  Future<Reply> push(Push push) override {
    pushed_.push_back(push.tensor);
    return ready(Reply{.values = decode(push.values)});
  }
  Future<Reply> pull(Pull) override { return ready(Reply{}); }
  Future<void> leave(std::uint32_t, std::uint32_t) override { return ready(); }
  Future<ShardVersions> versions(std::uint32_t, std::uint32_t) override { return ready(ShardVersions{}); }
  Future<WorkerPosition> position(std::uint32_t, std::uint32_t, std::uint32_t) const override {
    return ready(WorkerPosition());
  }
  std::vector<std::uint32_t> pushed() const { return pushed_; }

  using Remote = Methods<&NotingServer::push, &NotingServer::pull, &NotingServer::leave, &NotingServer::versions,
                         &NotingServer::position, &NotingServer::pushed>;

 private:
  std::vector<std::uint32_t> pushed_{};
};

TEST(Partitioned, WhatTheNextStepNeedsFirstTravelsFirst) {
  Program program("partitions");
  const auto server = program.add<NotingServer>({.name = "server"});
  LocalRun run(program);
  const ServerTraining training = training_of(1, 1);
  const Scheme scheme = partitioned_scheme(training, {.bytes = 1000, .credit = 1000});
  ParameterClient client(Clients<ParameterService>(std::vector<Client<ParameterService>>{run.client(server)}),
                         scheme.tensors(digits_task(), training), {});
  const auto model = digits_task().model();
  const auto exchange = scheme.exchange({.servers = client, .model = *model, .training = training, .seed = kSeed});
  exchange->push(exchange->begin(), {}, {.examples = 64, .gradient = Eigen::VectorXf::Ones(model->size())});
  std::vector<std::uint32_t> expected((model_size() + 249) / 250);
  std::iota(expected.begin(), expected.end(), 0U);  // the partitions of the first layer have the lowest numbers
  EXPECT_EQ(run.client(server).call<&NotingServer::pushed>(), expected);
}

TEST(Partitioned, AWorkerSendsAndReceivesEachByteOnceAStepAndGetsTheBitsOfSynchronous) {
  const ServerTraining training = training_of(3, 100, 0.1F, 2);
  const auto add = [&](Program& program) {
    return add_partitioned_training(program, digits_task(), training, {.bytes = 1000, .credit = 3000});
  };
  TrainingRun run(add);
  const Parameters parameters = run.result();
  for (const auto& worker : run.workers().all<&TrainingWorker::statistics>()) {
    EXPECT_EQ(worker.bytes_sent, 100 * model_size() * sizeof(float));
    EXPECT_EQ(worker.bytes_received, 100 * model_size() * sizeof(float));
  }
  // Both servers have their partitions of 250 parameters, in turn.
  const std::uint64_t partitions = (model_size() + 249) / 250;
  const auto servers = run.servers().all<&ParameterServer::statistics>();
  EXPECT_EQ(servers[0].shards.updates, (partitions + 1) / 2 * 100);
  EXPECT_EQ(servers[1].shards.updates, partitions / 2 * 100);
  EXPECT_EQ(parameters_hash(parameters.values), hash_of_training([&](Program& program) {
              return add_synchronous_training(program, digits_task(), training);
            }));
}

TEST(Partitioned, ReplicasOfServersLeaveNoCutToRestartAWorkerFrom) {
  ServerTraining training = training_of(2, 10, 0.1F, 2);
  training.replicated = true;
  Program alone("training");
  add_partitioned_training(alone, digits_task(), training);
  training.restarts = 1;
  Program restarted("training");
  EXPECT_THROW(add_partitioned_training(restarted, digits_task(), training), Error);
}

}  // namespace
}  // namespace lp
