// Fed training: which node waits for which, where the data is, and the same bits as workers with data of their own.
#include "programs/schemes/feeding.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launchers/run.h"
#include "programs/data/batch_feed.h"
#include "programs/schemes/asynchronous.h"
#include "programs/training/synchronous.h"
#include "tests/directory.h"
#include "tests/launchers/tools_for_test.h"
#include "tests/programs/programs_for_test.h"
#include "tests/programs/training_run.h"

namespace lp {
namespace test {
namespace {

// The first caller waits at the gate, a named pipe, until somebody opens it.
void wait_at_gate(const std::filesystem::path& directory) {
  const int first = open((directory / "held").c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (first < 0) return;
  close(first);
  close(open((directory / "gate").c_str(), O_RDONLY | O_CLOEXEC));
}

// Servers ask a model for its first parameters when they start, workers do not.
class HeldMlp final : public TestMlp {
 public:
  explicit HeldMlp(Config config) : config_(std::move(config)) {
    if (!config_.hold_server) wait_at_gate(config_.directory);
  }
  Eigen::VectorXf initialize(std::uint64_t seed) const override {
    if (config_.hold_server) wait_at_gate(config_.directory);
    return TestMlp::initialize(seed);
  }

 private:
  const Config config_;
};

ServerTraining fed_training() { return training_of(2, 20); }

}  // namespace

Program make_feeding(const Config& config) {
  const LearningTask task{.model = [config] { return std::make_unique<HeldMlp>(config); },
                          .data =
                              [config](std::uint64_t) {
                                std::ofstream(config.directory + "/asked", std::ios::app) << "x" << std::flush;
                                return digits();
                              }};
  Program program("feeding");
  add_fed_training(program, task, fed_training(), synchronous_scheme(fed_training()));
  return program;
}

}  // namespace test

namespace {

using test::digits_task;
using test::training_of;
using test::TrainingRun;

// ---- the queue

Dataset batch_of(int examples) { return {Eigen::MatrixXf::Zero(1, examples), Eigen::VectorXi::Zero(examples), 1}; }
template <class T>
bool waits(Future<T>& future) {
  return !future.wait_for(Duration::zero());
}

TEST(BatchFeed, TheFeederIsToldTheNextStepWhenThereIsRoomForIt) {
  BatchFeed feed;
  EXPECT_EQ(feed.put(0, batch_of(1)).get(), 1U);
  Future<std::uint64_t> full = feed.put(1, batch_of(2));
  EXPECT_TRUE(waits(full));
  EXPECT_EQ(feed.take(0).get()->examples(), 1);
  EXPECT_EQ(full.get(), 2U);
  EXPECT_EQ(feed.take(1).get()->examples(), 2);
  Future<std::optional<Dataset>> early = feed.take(2);
  EXPECT_TRUE(waits(early));
  EXPECT_EQ(feed.put(2, batch_of(3)).get(), 3U);
  EXPECT_EQ(early.get()->examples(), 3);
  EXPECT_EQ(feed.fed(), 3U);
}

TEST(BatchFeed, WhatIsNotWantedNextIsDropped) {
  BatchFeed feed;
  EXPECT_EQ(feed.put(3, batch_of(9)).get(), 0U);
  EXPECT_EQ(feed.put(0, batch_of(1)).get(), 1U);
  EXPECT_EQ(feed.put(0, batch_of(9)).get(), 1U);  // a repetition
  EXPECT_EQ(feed.take(0).get()->examples(), 1);
  EXPECT_EQ(feed.fed(), 1U);
}

TEST(BatchFeed, GoesToWhereItsWorkerIs) {
  BatchFeed feed;
  feed.put(0, batch_of(9)).get();
  Future<std::uint64_t> full = feed.put(1, batch_of(9));
  Future<std::optional<Dataset>> later = feed.take(7);  // the taker was restarted
  EXPECT_EQ(full.get(), 7U);
  EXPECT_TRUE(waits(later));
  feed.put(7, batch_of(1)).get();
  EXPECT_EQ(later.get()->examples(), 1);
  Future<std::optional<Dataset>> back = feed.take(4);
  EXPECT_EQ(feed.put(8, batch_of(9)).get(), 4U);
  EXPECT_EQ(feed.put(4, batch_of(2)).get(), 5U);
  EXPECT_EQ(back.get()->examples(), 2);
}

TEST(BatchFeed, TheFeederHasToStayAfterTheEnd) {
  BatchFeed feed;
  feed.put(0, batch_of(1)).get();
  Future<std::uint64_t> end = feed.put(1, {});
  EXPECT_TRUE(feed.take(0).get().has_value());
  EXPECT_FALSE(feed.take(1).get().has_value());
  EXPECT_TRUE(waits(end));
  Future<std::optional<Dataset>> back = feed.take(0);  // servers were restored
  EXPECT_EQ(end.get(), 0U);
  feed.put(0, batch_of(2)).get();
  EXPECT_EQ(back.get()->examples(), 2);
  end = feed.put(1, {});
  EXPECT_FALSE(feed.take(1).get().has_value());
  EXPECT_TRUE(waits(end));  // the worker may still come back
}

// ---- the training

class Feeding : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Paths, Feeding, testing::Bool(),
                         [](const auto& one) { return one.param ? "Bytes" : "Direct"; });

TEST_P(Feeding, EndsWithTheBitsOfWorkersThatHaveTheData) {
  using MakeScheme = Scheme (*)(const ServerTraining&);
  const MakeScheme synchronous = [](const ServerTraining& training) { return synchronous_scheme(training); };
  const MakeScheme downpour = [](const ServerTraining& training) {
    return asynchronous_scheme(training, {.fetch_every = 3, .push_every = 2});
  };
  for (const auto& [make, workers] : {std::pair(synchronous, 3), std::pair(downpour, 1)}) {
    const ServerTraining training = training_of(workers, 100, 0.1F, 2);
    const Scheme scheme = make(training);
    TrainingRun fed([&](Program& p) { return add_fed_training(p, digits_task(), training, scheme); }, GetParam());
    TrainingRun own([&](Program& p) { return add_server_training(p, digits_task(), training, scheme); }, GetParam());
    EXPECT_EQ(parameters_hash(fed.result().values), parameters_hash(own.result().values));
    for (const std::uint64_t batches : fed.workers().all<&TrainingWorker::fed>()) EXPECT_EQ(batches, 100U);
  }
}

TEST_P(Feeding, AFeederWaitsWhenItsWorkerIsBehind) {
  test::Watch watch;
  watch.expect_workers(3);
  watch.hold_one_at(10);
  const ServerTraining training = training_of(3, 300);
  TrainingRun run(
      [&](Program& p) {
        return add_fed_training(p, test::watched_task(watch), training, asynchronous_scheme(training));
      },
      GetParam());
  EXPECT_TRUE(watch.wait_for_others(100));  // they have done all their steps
  std::vector<std::uint64_t> fed;
  const auto workers_with = [&](std::uint64_t batches) { return std::count(fed.begin(), fed.end(), batches); };
  const Time end = after(std::chrono::seconds(20));
  do {
    fed = run.workers().all<&TrainingWorker::fed>();
  } while (workers_with(11 + BatchFeed::kRoom) == 0 && now() < end);
  EXPECT_EQ(workers_with(11 + BatchFeed::kRoom), 1);
  EXPECT_EQ(workers_with(100), 2);
  watch.release();
  run.finish();
  for (const std::uint64_t batches : run.workers().all<&TrainingWorker::fed>()) EXPECT_EQ(batches, 100U);
}

TEST_P(Feeding, AWorkerThatIsGoneForGoodIsFedNoMoreWhereTheOthersGoOn) {
  test::Watch watch;
  watch.expect_workers(3);
  const ServerTraining training = training_of(3, 900);
  TrainingRun run(
      [&](Program& p) {
        return add_fed_training(p, test::watched_task(watch), training, asynchronous_scheme(training));
      },
      GetParam());
  EXPECT_TRUE(watch.wait_for_others(25));
  test::kill_for_good(run.run(), {"worker/1"});
  run.finish();  // all feeders have ended
  for (const std::size_t k : {0U, 2U}) EXPECT_EQ(run.workers()[k].call<&TrainingWorker::fed>(), 300U);
  EXPECT_GE(run.accuracy(), 0.9);
}

class FeedingLaunched : public testing::TestWithParam<LaunchType> {};
INSTANTIATE_TEST_SUITE_P(Launches, FeedingLaunched, testing::Values(LaunchType::threads, LaunchType::processes),
                         [](const auto& one) { return one.param == LaunchType::threads ? "Threads" : "Processes"; });

TEST_P(FeedingLaunched, NothingIsFedBeforeAllPlacesAreTakenAndFeedersAloneAskForTheData) {
  using State = NodeStatus::State;
  for (const bool hold_server : {false, true}) {
    const test::Directory directory;
    const std::string gate = directory.path() / "gate";
    ASSERT_EQ(mkfifo(gate.c_str(), 0600), 0);
    const test::Config config{.directory = directory.path(), .hold_server = hold_server};
    LaunchOptions options = test::processes(config, "feeding");
    options.launch = GetParam();
    std::vector<std::uint64_t> fed;
    options.report = [&](lp::Run& run) {
      fed = run.client(GroupHandle<TrainingWorker>("worker", 2)).all<&TrainingWorker::fed>();
    };
    lp::Run run(test::make_feeding(config), options);
    std::vector<NodeStatus> starting;
    std::vector<NodeStatus> feeders;
    const Time end = after(std::chrono::seconds(60));
    do {
      ASSERT_LT(now(), end);
      starting = feeders = run.status().nodes;
      std::erase_if(starting, [](const NodeStatus& node) { return node.state >= State::ready; });
      std::erase_if(feeders, [](const NodeStatus& node) { return !node.name.starts_with("feeder/"); });
    } while (starting.size() != 1 && !run.wait_for(std::chrono::milliseconds(1)));
    ASSERT_EQ(feeders.size(), 2U);
    for (const NodeStatus& feeder : feeders) EXPECT_EQ(feeder.state, State::ready) << feeder.name;
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "asked"));
    const int opened = open(gate.c_str(), O_RDWR | O_CLOEXEC);  // for the nodes that wait there, or come later
    EXPECT_TRUE(run.wait().success) << run.wait().cause.text();
    close(opened);
    EXPECT_EQ(fed, std::vector<std::uint64_t>(2, 20));
    EXPECT_EQ(test::contents(directory.path() / "asked"), "xx");
  }
}

}  // namespace
}  // namespace lp
