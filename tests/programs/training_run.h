#pragma once
// A training that runs in this process, and models whose gradients a test watches or holds back. Owned by the test.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lp/lp.h"
#include "programs/models/mlp.h"
#include "programs/models/serial.h"
#include "programs/training/evaluation.h"
#include "programs/training/training.h"
#include "programs/training/worker.h"
#include "tests/lp/program/local_run.h"

namespace lp::test {

inline constexpr std::uint64_t kSeed = 5;

inline LearningTask digits_task() {
  return {.model =
              [] {
                return std::make_unique<Mlp>(std::vector<Eigen::Index>{64, 24, 10}, Activation::tanh);
              },
          .data = [](std::uint64_t seed) { return split(digits(), seed).train; }};
}

inline ServerTraining training_of(int workers, std::uint64_t steps, float rate = 0.1F, int servers = 1) {
  return {.workers = workers, .servers = servers, .steps = steps, .rule = Sgd{.rate = rate}, .checkpoint_every = 10};
}

// The accuracy that serial SGD reaches with this many batches of 64 examples.
inline double serial_accuracy(const LearningTask& task = digits_task(), std::uint64_t steps = 1600) {
  const auto model = task.model();
  const Split data = split(digits(), kSeed);
  const Eigen::VectorXf parameters =
      train_serial(*model, data.train, {.steps = steps, .batch = 64, .seed = kSeed, .rule = Sgd{.rate = 0.1F}});
  return evaluate(*model, parameters, data.test).accuracy;
}

class TrainingRun {
 public:
  using Add = std::function<TrainingGraph(Program&)>;

  explicit TrainingRun(const Add& add, bool serialize = false, const std::filesystem::path& directory = {})
      : graph_(add(program_)) {
    Runtime::Options options;
    options.run.seed = kSeed;
    options.run.serialize = serialize;
    options.run.directory = directory;
    run_.emplace(program_, options);
  }

  LocalRun& run() { return *run_; }
  Clients<ParameterServer> servers() { return run_->client(graph_.servers); }
  Clients<TrainingWorker> workers() { return run_->client(graph_.workers); }

  // Waits for the end.
  void finish() {
    run_->wait_finished();
    for (const auto& [node, error] : run_->failed()) ADD_FAILURE() << node << ": " << error.what();
  }
  Parameters result() {
    finish();
    return trained_parameters(servers(), workers(), digits_task().model()->size());
  }
  double accuracy() {
    const Parameters parameters = result();
    return evaluate(*digits_task().model(), parameters.values, split(digits(), kSeed).test).accuracy;
  }
  ShardStatistics statistics() {
    ShardStatistics all;
    for (const auto& one : servers().all<&ParameterServer::statistics>()) all.add(one.shards);
    return all;
  }

 private:
  Program program_{"training"};
  TrainingGraph graph_;
  std::optional<LocalRun> run_;
};

inline std::size_t model_size() { return static_cast<std::size_t>(digits_task().model()->size()); }
inline std::string hash_of_training(const TrainingRun::Add& add) {
  return parameters_hash(TrainingRun(add).result().values);
}

// Counts the gradients that each model has begun and ended, and holds one model back.
class Watch {
 public:
  // A worker computes its gradient number `step` = 0, 1, ...; returns when it may go on.
  std::uint64_t begin(const void* model) {
    Event event;
    std::unique_lock lock(mutex_);
    const std::uint64_t step = begun_[model]++;
    if (begun_.size() == workers_) {
      std::uint64_t slowest = ~std::uint64_t{0};
      for (const auto& [one, ignored] : begun_) slowest = std::min(slowest, ended_[one]);
      lead_ = std::max(lead_, step - std::min(step, slowest));
    }
    news_.set();
    if (held_ == nullptr && hold_at_ == step) held_ = model;
    while (held_ == model && !released_) {
      waiting_ = &event;
      lock.unlock();
      event.wait();
      lock.lock();
    }
    return step;
  }
  void end(const void* model) {
    const std::lock_guard lock(mutex_);
    ++ended_[model];
    news_.set();
  }

  void expect_workers(std::size_t workers) { workers_ = workers; }
  void hold_one_at(std::uint64_t step) { hold_at_ = step; }  // the first model that gets there
  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    if (waiting_ != nullptr) waiting_->set();
  }
  // Waits until every other model has ended this many gradients.
  bool wait_for_others(std::uint64_t steps) {
    const Time limit = after(std::chrono::seconds(20));
    std::unique_lock lock(mutex_);
    const auto enough = [&] {
      if (begun_.size() < workers_) return false;
      return std::all_of(begun_.begin(), begun_.end(),
                         [&](const auto& one) { return one.first == held_ || ended_[one.first] >= steps; });
    };
    while (!enough()) {
      lock.unlock();
      if (!news_.wait(limit)) return false;
      lock.lock();
    }
    return true;
  }
  // The lead, in ended gradients, that the fastest model had over the slowest when it began a gradient.
  std::uint64_t lead() {
    const std::lock_guard lock(mutex_);
    return lead_;
  }
  std::uint64_t most_ended() {
    const std::lock_guard lock(mutex_);
    std::uint64_t most = 0;
    for (const auto& [model, ended] : ended_) most = std::max(most, ended);
    return most;
  }

 private:
  std::mutex mutex_;
  std::size_t workers_ = 0;
  std::optional<std::uint64_t> hold_at_;
  const void* held_ = nullptr;
  bool released_ = false;
  Event* waiting_ = nullptr;
  Event news_;
  std::map<const void*, std::uint64_t> begun_;
  std::map<const void*, std::uint64_t> ended_;
  std::uint64_t lead_ = 0;
};

// The digits task's network, for a test that observes a part of it.
class TestMlp : public Model {
 public:
  Eigen::Index size() const override { return mlp_.size(); }
  Eigen::VectorXf initialize(std::uint64_t seed) const override { return mlp_.initialize(seed); }
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override {
    return mlp_.scores(parameters, features);
  }
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    return mlp_.loss(parameters, batch, gradient);
  }

 private:
  const Mlp mlp_{{64, 24, 10}, Activation::tanh};
};

class WatchedMlp final : public TestMlp {
 public:
  explicit WatchedMlp(Watch& watch) : watch_(watch) {}
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override {
    watch_.begin(this);
    const double loss = TestMlp::loss(parameters, batch, gradient);
    watch_.end(this);
    return loss;
  }

 private:
  Watch& watch_;
};

inline LearningTask watched_task(Watch& watch) {
  LearningTask task = digits_task();
  task.model = [&watch] { return std::make_unique<WatchedMlp>(watch); };
  return task;
}

// Begins with other parameters in every worker.
class AnyMlp final : public TestMlp {
 public:
  explicit AnyMlp(std::atomic<int>& made) : number_(made++) {}
  Eigen::VectorXf initialize(std::uint64_t seed) const override {
    return TestMlp::initialize(seed + static_cast<std::uint64_t>(number_));
  }

 private:
  const int number_;
};

// Kills a worker and the node beside it, which do not come back.
inline void kill_for_good(LocalRun& run, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const NodeId node = run.id(name);
    run.runtime().stop(node, "it is killed");
    EXPECT_TRUE(run.runtime().join(node, after(std::chrono::seconds(20))));
    const std::vector<PeerState> news{
        {.node = node, .incarnation = 2, .gone = true, .text = "it was killed", .epoch = 1}};
    run.runtime().update(news);
  }
}

}  // namespace lp::test
