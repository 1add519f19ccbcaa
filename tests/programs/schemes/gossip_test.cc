// Gossip: the invariants of messages, their number, and the cost of a death.
#include "programs/schemes/gossip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "nodes/collective/gossip_member.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace {

using test::digits_task;
using test::kSeed;
using test::training_of;
using test::TrainingRun;

WeightedModel model_of(double weight, std::vector<float> values) {
  return {.weight = weight, .values = Array<float>::copy_of(values)};
}
std::vector<WeightedModel> held(TrainingRun& run, int workers) {
  std::vector<WeightedModel> out;
  for (const auto& one :
       run.run().client(GroupHandle<GossipMember>("gossip", workers)).outcomes<&GossipMember::held>()) {
    if (one) out.push_back(one.value());
  }
  return out;
}

TEST(WeightedModel, MergesToTheMeanByWeights) {
  WeightedModel one = model_of(1.5, {2, -4});
  one.merge(model_of(0.5, {10, 4}));
  EXPECT_EQ(one.weight, 2);
  EXPECT_EQ(one.values, Array<float>::copy_of(std::vector<float>{4, -2}));
  one.merge({});
  EXPECT_EQ(one.weight, 2);
  WeightedModel none;
  none.merge(one);
  EXPECT_EQ(none.values, one.values);
  EXPECT_THROW(one.merge(model_of(1, {1})), Error);
}

TEST(GossipMember, KeepsWhatItIsSentUntilItIsTakenAndRefusesNonsense) {
  Program program("gossip");
  const auto member = program.add<GossipMember>({.name = "gossip"}, context);
  LocalRun run(program);
  const auto client = run.client(member);
  EXPECT_EQ(client.call<&GossipMember::first_weight>(), 1);
  client.call<&GossipMember::put>(model_of(0.25, {1}));
  client.call<&GossipMember::put>(model_of(0.75, {5}));
  EXPECT_THROW(client.call<&GossipMember::put>(model_of(1, {std::numeric_limits<float>::infinity()})), Error);
  EXPECT_THROW(client.call<&GossipMember::put>(model_of(-1, {1})), Error);
  EXPECT_THROW(client.call<&GossipMember::put>(model_of(1, {1, 2})), Error);
  const WeightedModel taken = client.call<&GossipMember::take>();
  EXPECT_EQ(taken.weight, 1);
  EXPECT_EQ(taken.values[0], 4);
  EXPECT_EQ(client.call<&GossipMember::take>().weight, 0);
  EXPECT_TRUE(client.call<&GossipMember::put>(model_of(1, {3})));
  client.call<&GossipMember::finish>(model_of(1, {5}));
  EXPECT_FALSE(client.call<&GossipMember::put>(model_of(2, {9})));
  EXPECT_EQ(client.call<&GossipMember::held>().weight, 2);
  EXPECT_EQ(client.call<&GossipMember::held>().values[0], 4);
  run.restart({"gossip"});
  EXPECT_EQ(client.call<&GossipMember::first_weight>(), 0);
}

TEST(GossipPartner, IsAnyOtherWorkerWithTheProbability) {
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    std::map<std::uint32_t, int> times;
    int none = 0;
    for (std::uint64_t step = 0; step < 4000; ++step) {
      const auto partner = gossip_partner(kSeed, {.worker = worker, .workers = 4}, step, 0.25);
      partner ? ++times[*partner] : ++none;
    }
    EXPECT_NEAR(none, 3000, 120);
    EXPECT_EQ(times.size(), 3U);
    EXPECT_FALSE(times.contains(worker));
    for (const auto& [partner, count] : times) EXPECT_NEAR(count, 333, 80) << partner;
  }
  EXPECT_FALSE(gossip_partner(kSeed, {.worker = 0, .workers = 1}, 0, 1));
}

class Gossip : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Paths, Gossip, testing::Bool(),
                         [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

// Without learning, the workers' values only move between them.
TEST_P(Gossip, MessagesKeepTheSumOfWeightsAndOfWeightedModels) {
  constexpr int kMembers = 5;
  std::atomic<int> made = 0;
  LearningTask task = digits_task();
  task.model = [&made] { return std::make_unique<test::AnyMlp>(made); };
  Eigen::VectorXf expected = Eigen::VectorXf::Zero(digits_task().model()->size());
  for (std::uint64_t k = 0; k < kMembers; ++k) expected += digits_task().model()->initialize(kSeed + k);
  TrainingRun run([&](Program& p) { return add_gossip_training(p, task, training_of(kMembers, 600, 0), 0.5); },
                  GetParam());
  run.finish();
  double weights = 0;
  Eigen::VectorXf sum = Eigen::VectorXf::Zero(expected.size());
  const auto models = held(run, kMembers);
  for (const WeightedModel& one : models) {
    weights += one.weight;
    sum += static_cast<float>(one.weight) * Eigen::Map<const Eigen::VectorXf>(one.values.data(), sum.size());
  }
  EXPECT_NEAR(weights, kMembers, 1e-9);
  EXPECT_LT((sum - expected).norm() / expected.norm(), 1e-5);
  // The result is their mean, whichever worker is asked.
  for (const Parameters& one : run.workers().all<&TrainingWorker::learned>()) {
    EXPECT_EQ(one.step, 600U / kMembers);
    EXPECT_LT((one.values - expected / kMembers).norm() / expected.norm(), 1e-5);
  }
}

TEST_P(Gossip, SendsItsModelWithItsProbability) {
  for (const double probability : {0.0, 0.25, 1.0}) {
    TrainingRun run([&](Program& p) { return add_gossip_training(p, digits_task(), training_of(4, 400), probability); },
                    GetParam());
    run.finish();
    std::uint64_t sent = 0;
    for (const auto& one : run.workers().all<&TrainingWorker::statistics>()) sent += one.bytes_sent;
    const double messages =
        static_cast<double>(sent) / (static_cast<double>(digits_task().model()->size()) * sizeof(float));
    EXPECT_NEAR(messages, 400 * probability, 400 * 0.08 * (probability == 0.25 ? 1 : 0));
  }
}

TEST_P(Gossip, ReachesNearlyTheAccuracyOfSerialTraining) {
  TrainingRun run([](Program& p) { return add_gossip_training(p, digits_task(), training_of(4, 1600, 0.3F), 0.2); },
                  GetParam());
  EXPECT_GE(run.accuracy(), test::serial_accuracy() - 0.02);
}

// It had sent its weight away to others that learn no more, with what it had learned until then.
TEST(GossipFailures, AWorkerThatIsFarBehindKeepsItsWeightForWhatItStillLearns) {
  test::Watch watch;
  watch.expect_workers(3);
  watch.hold_one_at(0);
  TrainingRun run(
      [&](Program& p) { return add_gossip_training(p, test::watched_task(watch), training_of(3, 900), 0.5); });
  run.run().wait_ended(2);
  watch.release();
  EXPECT_GE(run.accuracy(), 0.93);
  double most = 0;
  for (const WeightedModel& one : held(run, 3)) most = std::max(most, one.weight);
  EXPECT_GE(most, 1);  // that of the last, which it began with
}

TEST(GossipFailures, TheOthersGoOnWithoutAWorkerThatIsKilled) {
  test::Watch watch;
  watch.expect_workers(3);
  TrainingRun run(
      [&](Program& p) { return add_gossip_training(p, test::watched_task(watch), training_of(3, 900), 0.5); });
  EXPECT_TRUE(watch.wait_for_others(25));
  test::kill_for_good(run.run(), {"worker/1", "gossip/1"});
  run.finish();
  for (const int k : {0, 2}) {
    EXPECT_EQ(run.workers()[static_cast<std::size_t>(k)].call<&TrainingWorker::statistics>().steps, 300U);
  }
  double weights = 0;
  for (const WeightedModel& one : held(run, 3)) weights += one.weight;
  EXPECT_GT(weights, 0);
  EXPECT_LT(weights, 3);  // its weight is gone
  EXPECT_GE(run.accuracy(), 0.9);
}

// Only worker 0 has a step, after which it sends to nobody.
TEST(GossipFailures, WhatCannotBeSentKeepsItsWeight) {
  test::Watch watch;
  watch.hold_one_at(0);
  TrainingRun run([&](Program& p) { return add_gossip_training(p, test::watched_task(watch), training_of(2, 1), 1); });
  test::kill_for_good(run.run(), {"worker/1", "gossip/1"});
  watch.release();
  run.finish();
  const auto models = held(run, 2);
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].weight, 1);
}

// The receiver may have the weight: if its sender took it back, it could count twice. The receiver is in another
// runtime, like another process, and is lost when the model has left for it.
TEST(GossipFailures, WhatMayHaveArrivedTakesItsWeightAlong) {
  Program program("training");
  add_gossip_training(program, digits_task(), training_of(2, 1), 1);
  Runtime::Options options{.network = true};
  options.run.name = "test";
  options.run.token = "secret";
  options.run.seed = kSeed;
  LocalRun there(program, options, LocalRun::kNothingHere);
  there.start_one("gossip/1", 1);
  Event held_back;
  Event done;
  there.probe("gossip/1", [&] {  // in its turn
    held_back.set();
    done.wait();
  });
  held_back.wait();
  LocalRun here(program, options, LocalRun::kNothingHere);
  PeerState receiver{.node = here.id("gossip/1"), .incarnation = 1, .endpoint = there.runtime().endpoint()};
  here.runtime().update(std::span(&receiver, 1));
  std::size_t others = 0;
  for (const char* const node : {"gossip/0", "commits", "worker/0"}) here.start_one(node, 1, others++);
  here.runtime().run(here.id("worker/0"));

  const auto has_left = [&] {
    const std::vector<CallStatistics> calls = here.runtime().calls();
    return std::any_of(calls.begin(), calls.end(),
                       [](const CallStatistics& one) { return one.method == "put" && one.bytes_sent > 0; });
  };
  Event later;
  for (const Time end = after(std::chrono::seconds(20)); !has_left() && !passed(end);) {
    later.wait(after(std::chrono::milliseconds(1)));
  }
  EXPECT_TRUE(has_left());
  receiver.endpoint = {};
  receiver.gone = true;
  here.runtime().update(std::span(&receiver, 1));
  here.wait_ended(1);
  EXPECT_EQ(here.client(GroupHandle<GossipMember>("gossip", 2))[0].call<&GossipMember::held>().weight, 0.5);
  done.set();
}

// Each worker waits in the middle of its training until the gate is open.
struct StepGate {
  static constexpr int kStep = 25;

  Event all_there{};
  std::atomic<int> there = 0;
  std::atomic<bool> open = false;
};
class StoppedMlp final : public test::TestMlp {
 public:
  StoppedMlp(StepGate& gate, int workers) : gate_(gate), workers_(workers) {}
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    if (step_++ == StepGate::kStep) {
      if (++gate_.there == workers_) gate_.all_there.set();
      gate_.open.wait(false);
    }
    return TestMlp::loss(parameters, batch, gradient);
  }

 private:
  StepGate& gate_;
  const int workers_;
  mutable int step_ = 0;
};

TEST(GossipFailures, AWorkerThatIsRestartedTakesTheFirstModelThatItIsSent) {
  StepGate gate;
  LearningTask task = digits_task();
  task.model = [&gate] { return std::make_unique<StoppedMlp>(gate, 3); };
  ServerTraining training = training_of(3, 900);
  training.checkpoint_every = 0;  // it has not committed anything
  TrainingRun run([&](Program& p) { return add_gossip_training(p, task, training, 0.5); });
  EXPECT_TRUE(gate.all_there.wait(after(std::chrono::seconds(20))));
  run.run().runtime().stop(run.run().id("worker/1"), "it is restarted");  // so that it does not end its training
  gate.open = true;
  gate.open.notify_all();
  run.run().restart({"worker/1", "gossip/1"});
  run.finish();
  double weights = 0;
  for (const WeightedModel& one : held(run, 3)) weights += one.weight;
  EXPECT_LT(weights, 3);
}

// All have ended. One comes back without a commit, and a worker at step 290 of 300 has sent it its model.
TEST(GossipFailures, AWorkerThatIsRestartedGoesOnAtTheStepOfWhoSentItsModel) {
  TrainingRun run([](Program& p) { return add_gossip_training(p, digits_task(), training_of(3, 900), 0); });
  run.finish();
  run.run().restart({"gossip/1", "commits"});
  const Eigen::VectorXf values = digits_task().model()->initialize(kSeed);
  WeightedModel sent = model_of(0.5, {values.begin(), values.end()});
  sent.step = 290;
  run.run().client(GroupHandle<GossipMember>("gossip", 3))[1].call<&GossipMember::put>(sent);
  run.run().restart({"worker/1"});
  run.finish();
  EXPECT_EQ(run.workers()[1].call<&TrainingWorker::statistics>().steps, 10U);
  EXPECT_EQ(held(run, 3)[1].weight, 0.5);
}

// It repeats the steps since its commit, and then goes on.
TEST(GossipFailures, AWorkerThatIsRestartedGoesOnFromItsLastCommit) {
  test::Watch watch;
  watch.expect_workers(3);
  TrainingRun run(
      [&](Program& p) { return add_gossip_training(p, test::watched_task(watch), training_of(3, 900), 0.5); });
  EXPECT_TRUE(watch.wait_for_others(65));
  run.run().restart({"worker/1", "gossip/1"});
  run.finish();
  EXPECT_LE(run.workers()[1].call<&TrainingWorker::statistics>().steps, 300U - 60);
  EXPECT_EQ(held(run, 3)[1].step, 300U);
  EXPECT_GE(run.accuracy(), 0.9);
}

TEST(GossipFailures, AProbabilityThatIsNoneIsRefused) {
  for (const double wrong : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    Program program("training");
    EXPECT_THROW(add_gossip_training(program, digits_task(), training_of(2, 10), wrong), Error);
  }
}

}  // namespace
}  // namespace lp
