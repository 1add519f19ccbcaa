#include "programs/training/synchronous.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lp/checkpoint/cut.h"
#include "lp/lp.h"
#include "programs/models/mlp.h"
#include "programs/models/serial.h"
#include "programs/training/evaluation.h"
#include "tests/lp/program/local_run.h"

namespace lp {
namespace {

constexpr std::uint64_t kTrainingSeed = 5;

LearningTask digits_task(std::vector<Eigen::Index> layers) {
  return {.model = [layers] { return std::make_unique<Mlp>(layers, Activation::tanh); },
          .data = [](std::uint64_t seed) { return split(digits(), seed).train; }};
}
const LearningTask kSmall = digits_task({64, 24, 10});

Runtime::Options runtime_options(bool serialize = false) {
  Runtime::Options options;
  options.run.seed = kTrainingSeed;
  options.run.serialize = serialize;
  return options;
}

// A training that runs in this process.
class Training500 {
 public:
  Training500(const LearningTask& task, const ServerTraining& training, Runtime::Options options = runtime_options())
      : servers_(add_synchronous_training(program_, task, training).servers), run(program_, std::move(options)) {}

 private:
  Program program_{"training"};
  GroupHandle<ParameterServer> servers_;

 public:
  LocalRun run;

  Clients<ParameterServer> servers() { return run.client(servers_); }
  // Waits until every server has done this many steps.
  void wait_for_step(std::uint64_t step) {
    for (std::uint32_t shard = 0; shard < servers().size(); ++shard) {
      servers()[shard].call<&ParameterServer::pull>(Pull{.shard = shard, .clock = step});
    }
  }

  Parameters result() {
    run.wait_finished();
    for (const auto& [node, error] : run.failed()) ADD_FAILURE() << node << ": " << error.what();
    return latest_parameters(servers());
  }
  std::string hash() {
    const Parameters parameters = result();
    EXPECT_EQ(parameters.step, 500);
    return parameters_hash(parameters.values);
  }
};

ServerTraining training_of(int workers, int servers) {
  return {.workers = workers, .servers = servers, .rule = Momentum{.rate = 0.05F}};
}

TEST(SynchronousTraining, EqualsSerialTrainingForAnyNumberOfWorkersAndServers) {
  const LearningTask task = digits_task({64, 256, 10});
  const std::unique_ptr<Model> model = task.model();
  const Split data = split(digits(), kTrainingSeed);
  const Eigen::VectorXf serial = train_serial(
      *model, data.train, {.steps = 500, .batch = 64, .seed = kTrainingSeed, .rule = Momentum{.rate = 0.05F}});
  for (const int workers : {1, 2, 4, 7}) {
    std::string hash;
    for (const int servers : {1, 3}) {
      Training500 training(task, training_of(workers, servers));
      const Parameters parameters = training.result();
      EXPECT_EQ(parameters.step, 500);
      ASSERT_EQ(parameters.values.size(), serial.size());
      EXPECT_LE((parameters.values - serial).norm(), 1e-5 * serial.norm()) << workers << " workers";
      EXPECT_GE(evaluate(*model, parameters.values, data.test).accuracy, 0.96);
      // The split of the parameters changes no bit.
      if (hash.empty()) hash = parameters_hash(parameters.values);
      EXPECT_EQ(parameters_hash(parameters.values), hash) << workers << " workers, " << servers << " servers";
    }
  }
}

TEST(SynchronousTraining, GivesTheSameBitsOnEveryPathAndEveryTime) {
  const std::string hash = Training500(kSmall, training_of(3, 2)).hash();
  EXPECT_EQ(Training500(kSmall, training_of(3, 2)).hash(), hash);
  EXPECT_EQ(Training500(kSmall, training_of(3, 2), runtime_options(/*serialize=*/true)).hash(), hash);
  Runtime::Options other = runtime_options();
  other.run.seed = kTrainingSeed + 1;
  EXPECT_NE(Training500(kSmall, training_of(3, 2), other).hash(), hash);
}

TEST(SynchronousTraining, MoreWorkersThanExamplesOfABatchAndMoreServersThanParametersWork) {
  ServerTraining training = training_of(3, 20);
  training.batch = 2;
  training.rule = Sgd{};
  LearningTask task;
  task.model = [] { return std::make_unique<Mlp>(std::vector<Eigen::Index>{1, 2}); };
  task.data = [](std::uint64_t) {
    Dataset data{Eigen::MatrixXf(1, 4), Eigen::VectorXi(4), 2};
    data.features << -1, -2, 1, 2;
    data.labels << 0, 0, 1, 1;
    return data;
  };
  Training500 run(task, training);
  const Parameters parameters = run.result();
  EXPECT_EQ(parameters.step, 500);
  EXPECT_EQ(evaluate(*task.model(), parameters.values, task.data(0)).accuracy, 1);
}

TEST(SynchronousTraining, AWorkerThatIsRestartedChangesNothing) {
  const std::string hash = Training500(kSmall, training_of(3, 2)).hash();
  for (const bool serialize : {false, true}) {
    Training500 training(kSmall, training_of(3, 2), runtime_options(serialize));
    for (const std::uint64_t step : {50U, 100U, 150U, 200U, 250U}) {
      training.wait_for_step(step);
      training.run.restart({"worker/" + std::to_string(step / 50 % 3)});
    }
    EXPECT_EQ(training.hash(), hash);
  }
}

// A gate at which workers wait for the test.
class Gate {
 public:
  void wait() {
    Event event;
    {
      const std::lock_guard lock(mutex_);
      if (for_good_) return;
      waiting_.push_back(&event);
    }
    arrived_.set();
    event.wait();
  }
  // Waits until this many workers wait here.
  void wait_for(std::size_t workers) {
    std::unique_lock lock(mutex_);
    while (waiting_.size() < workers) {
      lock.unlock();
      arrived_.wait();
      lock.lock();
    }
  }
  void open(bool for_good = false) {
    const std::lock_guard lock(mutex_);
    for_good_ = for_good;
    for (Event* event : std::exchange(waiting_, {})) event->set();
  }

 private:
  std::mutex mutex_;
  bool for_good_ = false;
  Event arrived_;
  std::vector<Event*> waiting_;
};

// A model whose every 130th gradient waits at a gate.
class GatedMlp final : public Model {
 public:
  GatedMlp(std::vector<Eigen::Index> layers, Gate& gate) : mlp_(std::move(layers), Activation::tanh), gate_(gate) {}
  Eigen::Index size() const override { return mlp_.size(); }
  Eigen::VectorXf initialize(std::uint64_t seed) const override { return mlp_.initialize(seed); }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return mlp_.scores(parameters, features);
  }
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    if (++calls_ % 130 == 0) gate_.wait();
    return mlp_.loss(parameters, batch, gradient);
  }

 private:
  Mlp mlp_;
  Gate& gate_;
  mutable int calls_ = 0;
};

TEST(SynchronousTraining, ServersThatGoBackToTheirCutChangeNothing) {
  const std::string hash = Training500(kSmall, training_of(3, 2)).hash();
  for (const bool serialize : {false, true}) {
    const std::filesystem::path directory = ::testing::TempDir() + "lp_synchronous_cut";
    std::filesystem::remove_all(directory);
    Runtime::Options options = runtime_options(serialize);
    options.run.directory = directory;
    Gate gate;
    LearningTask task = kSmall;
    task.model = [&gate] { return std::make_unique<GatedMlp>(std::vector<Eigen::Index>{64, 24, 10}, gate); };
    {
      Training500 training(task, training_of(3, 2), options);
      gate.wait_for(3);
      training.run.wait_saved(100, 2);
      training.run.restart({"server/0", "server/1"}, cut_directory(directory, 100));
      EXPECT_EQ(latest_parameters(training.servers()).step, 100);  // the workers are at step 129
      gate.open();
      gate.wait_for(3);
      training.run.restart({"server/0", "server/1"});
      EXPECT_EQ(latest_parameters(training.servers()).step, 0);
      gate.open(/*for_good=*/true);
      EXPECT_EQ(training.hash(), hash);
    }
    std::filesystem::remove_all(directory);
  }
}

TEST(SynchronousTraining, ADivergingLossNamesTheWorkerAndWhatToDo) {
  ServerTraining training = training_of(1, 1);
  training.rule = Sgd{.rate = 1e38F};
  Training500 run(kSmall, training);
  run.run.wait_finished();
  const auto failed = run.run.failed();
  ASSERT_EQ(failed.count("worker/0"), 1);
  const std::string text = failed.at("worker/0").what();
  EXPECT_NE(text.find("worker 0"), std::string::npos) << text;
  EXPECT_NE(text.find("learning rate"), std::string::npos) << text;
}

}  // namespace
}  // namespace lp
