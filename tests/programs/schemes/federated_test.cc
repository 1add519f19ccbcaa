// Federated averaging: the clients' examples, the algorithm bit for bit, and clients that fail or have no examples.
#include "programs/schemes/federated.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lp/base/random.h"
#include "programs/data/batches.h"
#include "programs/models/serial.h"
#include "programs/training/rows.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::kSeed;
using test::TrainingRun;

ServerTraining federated_training(int clients, std::uint64_t rounds) {
  ServerTraining out = test::training_of(clients, rounds);
  out.batch = 16;  // a client's batch
  return out;
}

// ---- the clients' examples

class Clients7 : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Clients7, HaveAllExamplesOnceAndNearlyAsMany) {
  const Dataset data = digits();
  std::vector<std::uint32_t> all;
  std::size_t least = 1797;
  std::size_t most = 0;
  for (std::uint32_t client = 0; client < 7; ++client) {
    const auto own = client_examples(data, {client, 7}, GetParam(), kSeed);
    least = std::min(least, own.size());
    most = std::max(most, own.size());
    all.insert(all.end(), own.begin(), own.end());
  }
  EXPECT_LE(most - least, std::max(GetParam(), 1U));
  std::sort(all.begin(), all.end());
  std::vector<std::uint32_t> expected(1797);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(all, expected);
}
INSTANTIATE_TEST_SUITE_P(Shards, Clients7, testing::Values(0U, 1U, 2U, 5U));

TEST(FederatedClients, WithTwoShardsHaveFewLabelsAndAtRandomAll) {
  const Dataset data = digits();
  const auto labels = [&](std::uint32_t client, std::uint32_t shards) {
    std::set<int> out;
    for (const std::uint32_t one : client_examples(data, {client, 20}, shards, kSeed)) out.insert(data.labels(one));
    return out.size();
  };
  for (std::uint32_t client = 0; client < 20; ++client) {
    EXPECT_EQ(labels(client, 0), 10U);
    EXPECT_LE(labels(client, 2), 4U);  // 40 shards of 45 examples: each has one or two labels
  }
}

TEST(FederatedClients, HaveShardsOfLabelsThatAreNotNeighbours) {
  const Dataset data = digits();
  int apart = 0;
  for (std::uint32_t client = 0; client < 20; ++client) {
    const auto own = client_examples(data, {client, 20}, 2, kSeed);
    const auto [least, most] = std::minmax_element(
        own.begin(), own.end(), [&](std::uint32_t a, std::uint32_t b) { return data.labels(a) < data.labels(b); });
    apart += data.labels(*most) - data.labels(*least) > 1 ? 1 : 0;
  }
  EXPECT_GE(apart, 10);
}

// ---- the algorithm

// Algorithm 1 of the paper, without any nodes. A client begins every round with a new optimizer.
Eigen::VectorXf simulated(const LearningTask& task, const ServerTraining& training, const Federated& federated) {
  const auto model = task.model();
  const Dataset data = task.data(kSeed);
  const auto clients = static_cast<std::uint32_t>(training.workers);
  Eigen::VectorXf global = model->initialize(kSeed);
  Eigen::VectorXf gradient;
  for (std::uint64_t round = 0; round < training.steps; ++round) {
    std::vector<std::uint32_t> order(clients);
    std::iota(order.begin(), order.end(), 0U);
    Random(kSeed, "rounds", round).shuffle(std::span(order));
    const auto wanted = static_cast<std::uint32_t>(std::lround(federated.share * clients));
    order.resize(std::max(wanted, 1U));
    std::sort(order.begin(), order.end());
    std::vector<Eigen::VectorXf> models;
    std::vector<std::size_t> examples;
    for (const std::uint32_t client : order) {
      const auto own = client_examples(data, {client, clients}, federated.label_shards, kSeed);
      Batches batches(static_cast<std::uint32_t>(own.size()), training.batch, kSeed);
      const std::uint64_t steps = federated.epochs * ((own.size() + training.batch - 1) / training.batch);
      Eigen::VectorXf local = global;
      Optimizer optimizer{.rule = training.rule};
      for (std::uint64_t step = round * steps; step < (round + 1) * steps; ++step) {
        std::vector<std::uint32_t> batch = batches.epoch_batch(step);
        for (std::uint32_t& one : batch) one = own[one];
        model->loss(local, gather(data, batch), gradient);
        descend(optimizer, local, gradient, static_cast<std::uint32_t>(batch.size()));
      }
      models.push_back(local);
      examples.push_back(own.size());
    }
    const std::size_t sum = std::accumulate(examples.begin(), examples.end(), std::size_t{0});
    global.setZero();
    for (std::size_t k = 0; k < models.size(); ++k) {
      global += static_cast<float>(examples[k]) / static_cast<float>(sum) * models[k];
    }
  }
  return global;
}

class FederatedAlgorithm : public testing::TestWithParam<bool> {};

TEST_P(FederatedAlgorithm, FollowsThePaper) {
  for (const Federated& federated : {Federated{.share = 0.4, .epochs = 2}, Federated{.share = 1, .label_shards = 2},
                                     Federated{.share = 0, .epochs = 3}}) {
    const ServerTraining training = federated_training(5, 6);
    TrainingRun run([&](Program& p) { return add_federated_training(p, digits_task(), training, federated); },
                    GetParam());
    const Eigen::VectorXf result = run.result().values;
    const Eigen::VectorXf expected = simulated(digits_task(), training, federated);
    EXPECT_LT((result - expected).norm() / expected.norm(), 1e-5);
    const std::uint64_t clients = federated.share == 0.4 ? 2 : federated.share == 1 ? 5 : 1;
    std::uint64_t sent = 0;
    for (const auto& worker : run.workers().all<&TrainingWorker::statistics>()) sent += worker.bytes_sent;
    EXPECT_EQ(sent, 6 * clients * static_cast<std::uint64_t>(result.size()) * sizeof(float));
  }
}

// All clients train in every round, so that each has optimizer state that it must not keep.
TEST_P(FederatedAlgorithm, BeginsEveryRoundWithoutThePastOfTheOptimizer) {
  for (const OptimizerRule& rule : {OptimizerRule(Momentum{.rate = 0.05F}), OptimizerRule(Adam{.rate = 0.01F})}) {
    ServerTraining training = federated_training(3, 4);
    training.rule = rule;
    const Federated federated{.share = 1};
    TrainingRun run([&](Program& p) { return add_federated_training(p, digits_task(), training, federated); },
                    GetParam());
    const Eigen::VectorXf expected = simulated(digits_task(), training, federated);
    EXPECT_LT((run.result().values - expected).norm() / expected.norm(), 1e-5);
  }
}
INSTANTIATE_TEST_SUITE_P(Paths, FederatedAlgorithm, testing::Bool(),
                         [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

TEST(Federated, NoRoundsGiveTheFirstModel) {
  TrainingRun run([&](Program& p) { return add_federated_training(p, digits_task(), federated_training(3, 0)); });
  const Parameters result = run.result();
  EXPECT_EQ(result.step, 0U);
  EXPECT_EQ(result.values, digits_task().model()->initialize(kSeed));
}

// IID within 1 % of serial SGD with as many examples; with two labels for each client within 4 %.
TEST_P(FederatedAlgorithm, ReachesTheAccuracyOfSerialTraining) {
  const double expected = test::serial_accuracy();
  const auto accuracy = [&](const Federated& federated) {
    TrainingRun run(
        [&](Program& p) { return add_federated_training(p, digits_task(), federated_training(4, 71), federated); },
        GetParam());
    return run.accuracy();
  };
  EXPECT_GE(accuracy({.share = 0.5, .epochs = 2}), expected - 0.01);
  EXPECT_GE(accuracy({.share = 1, .label_shards = 2}), expected - 0.04);
}

// ---- clients that have no examples, fail, or compute nonsense

TEST(Federated, AClientWithoutExamplesGetsTheResultAndGivesNothing) {
  LearningTask task = digits_task();
  task.data = [](std::uint64_t) {
    const std::vector<std::uint32_t> few{3, 5, 8};
    return gather(digits(), few);
  };
  TrainingRun run([&](Program& p) { return add_federated_training(p, task, federated_training(5, 4), {.share = 1}); });
  run.finish();
  const auto results = run.workers().all<&TrainingWorker::learned>();
  std::uint64_t idle = 0;
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(results[k].values, results[0].values);
    idle += run.workers()[k].call<&TrainingWorker::statistics>().steps == 0 ? 1 : 0;
  }
  EXPECT_EQ(idle, 2U);
}

TEST(Federated, WithoutExamplesItSaysSo) { EXPECT_THROW(client_examples(Dataset{}, {}, 0, kSeed), Error); }

TEST(Federated, RoundsGoOnWithoutAClientThatIsKilled) {
  test::Watch watch;
  watch.expect_workers(3);
  TrainingRun run([&](Program& p) {
    return add_federated_training(p, test::watched_task(watch), federated_training(3, 40), {.share = 1});
  });
  EXPECT_TRUE(watch.wait_for_others(40));
  test::kill_for_good(run.run(), {"worker/1"});
  run.finish();
  const RoundsStatistics statistics =
      run.run().client(Handle<FederatedServer>("rounds")).call<&FederatedServer::statistics>();
  EXPECT_EQ(statistics.rounds, 40U);
  EXPECT_LE(statistics.missed, 1U);  // none, if it had given its model to the round in which it was killed
  EXPECT_EQ(statistics.contributions + statistics.missed, statistics.selected);
  EXPECT_LT(statistics.selected, 3 * statistics.rounds);  // later rounds do not select it
  EXPECT_GE(run.accuracy(), 0.9);
}

TEST(Federated, AClientThatIsRestartedChangesNoBit) {
  const auto hash = [](bool disturb) {
    test::Watch watch;
    watch.expect_workers(3);
    TrainingRun run([&](Program& p) {
      return add_federated_training(p, test::watched_task(watch), federated_training(3, 20), {.share = 1});
    });
    EXPECT_TRUE(watch.wait_for_others(40));
    if (disturb) run.run().restart({"worker/1"});
    return parameters_hash(run.result().values);
  };
  EXPECT_EQ(hash(true), hash(false));
}

// One client's gradients become NaN.
class NanModel final : public Model {
 public:
  Eigen::Index size() const override { return mlp_.size(); }
  Eigen::VectorXf initialize(std::uint64_t seed) const override { return mlp_.initialize(seed); }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return mlp_.scores(parameters, features);
  }
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    const double loss = mlp_.loss(parameters, batch, gradient);
    if ((batch.labels.array() == 7).any()) gradient(3) = std::numeric_limits<float>::quiet_NaN();
    return loss;
  }

 private:
  Mlp mlp_{{64, 24, 10}, Activation::tanh};
};

TEST(Federated, AGradientThatIsNotFiniteIsRefusedWithItsWorkerAndTheOthersGoOn) {
  LearningTask task = digits_task();
  task.model = [] { return std::make_unique<NanModel>(); };
  Program program("training");
  add_federated_training(program, task, federated_training(10, 5),
                         {.share = 1, .label_shards = 1, .patience = std::chrono::seconds(2)});
  LocalRun run(program);
  run.wait_finished();
  EXPECT_GE(run.failed().size(), 1U);
  EXPECT_LE(run.failed().size(), 3U);
  for (const auto& [node, error] : run.failed()) {
    const std::string text = error.what();
    EXPECT_NE(text.find("the gradient of worker " + node.substr(node.find('/') + 1) + " "), std::string::npos) << text;
  }
  EXPECT_EQ(run.client(Handle<FederatedServer>("rounds")).call<&FederatedServer::statistics>().rounds, 5U);
}

}  // namespace
}  // namespace lp
