#include "programs/synchronous.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/scheduler.h"
#include "programs/batches.h"

namespace lp {
namespace {

// Between attempts to find the servers at one step, while they are being restored: doubles, and then gives up.
constexpr Duration kFirstPause = std::chrono::milliseconds(10);
constexpr int kMostAttempts = 12;  // 40 seconds

constexpr Duration kReportEvery = std::chrono::milliseconds(100);

// The cut of `size` parameters into shards: where the k-th of `shards` begins.
std::size_t shard_begin(std::size_t size, std::size_t k, std::size_t shards) { return size * k / shards; }

// A server's part of the initial parameters.
struct InitialShard {
  std::function<std::unique_ptr<Model>()> model;

  Array<float> dereference(Context& node) const {
    const Eigen::VectorXf all = model()->initialize(node.program_seed());
    const std::span<const float> values(all.data(), static_cast<std::size_t>(all.size()));
    const auto shards = static_cast<std::size_t>(node.replicas());
    const auto k = static_cast<std::size_t>(node.index());
    const std::size_t begin = shard_begin(values.size(), k, shards);
    return Array<float>::copy_of(values.subspan(begin, shard_begin(values.size(), k + 1, shards) - begin));
  }
};

Eigen::VectorXf joined(const std::vector<Array<float>>& shards) {
  std::size_t size = 0;
  for (const Array<float>& shard : shards) size += shard.size();
  Eigen::VectorXf all(static_cast<Eigen::Index>(size));
  float* to = all.data();
  for (const Array<float>& shard : shards) to = std::copy(shard.begin(), shard.end(), to);
  return all;
}

// Says every now and then how far the training is.
class ProgressReport {
 public:
  ProgressReport(Context& node, const SynchronousTraining& training) : node_(node), training_(training) {}

  // `loss` is the sum over `examples`.
  void step_done(std::uint64_t step, double loss, std::size_t examples) {
    ++steps_;
    const Duration passed = now() - last_;
    if (passed < kReportEvery && step < training_.steps) return;
    const double seconds = std::chrono::duration<double>(passed).count();
    const double rate = static_cast<double>(steps_) * training_.batch / seconds;
    node_.report({.step = step,
                  .total = training_.steps,
                  .values = {{"loss", loss / static_cast<double>(examples)}, {"images/s", rate}}});
    last_ = now();
    steps_ = 0;
  }

 private:
  Context& node_;
  const SynchronousTraining& training_;
  Time last_ = now();
  std::uint64_t steps_ = 0;  // since then
};

}  // namespace

Parameters latest_parameters(const Clients<ParameterServer>& servers) {
  std::vector<ParameterVersions> all = servers.all<&ParameterServer::versions>();
  std::uint64_t step = ~std::uint64_t{0};
  for (const ParameterVersions& one : all) step = std::min(step, one.step);
  std::vector<Array<float>> shards;
  for (ParameterVersions& one : all) {
    const bool at_step = one.step == step;
    if (!at_step && (one.step != step + 1 || one.previous.size() != one.newest.size())) {
      throw Error(ErrorKind::disconnected, "one server is at step " + std::to_string(step) + " and another at step " +
                                               std::to_string(one.step) + ": they are being restored");
    }
    shards.push_back(at_step ? std::move(one.newest) : std::move(one.previous));
  }
  return {.step = step, .values = joined(shards)};
}

SynchronousWorker::SynchronousWorker(Clients<ParameterServer> servers, LearningTask task, SynchronousTraining training)
    : servers_(std::move(servers)), task_(std::move(task)), training_(training) {}

void SynchronousWorker::run(Context& node) {
  const std::unique_ptr<Model> model = task_.model();
  const Dataset data = task_.data(node.program_seed());
  Batches batches(static_cast<std::uint32_t>(data.examples()), training_.batch, node.program_seed());
  ProgressReport progress(node, training_);
  const auto worker = static_cast<std::uint32_t>(node.index());
  Eigen::VectorXf gradient;

  // One step: version step + 1.
  const auto train = [&](const Parameters& from) -> Parameters {
    const std::vector<std::uint32_t> examples =
        batches.shard(from.step, worker, static_cast<std::uint32_t>(node.replicas()));
    const double loss = model->loss(from.values, gather(data, examples), gradient);
    const std::span<const float> values(gradient.data(), static_cast<std::size_t>(gradient.size()));
    std::vector<Future<Array<float>>> pushes;
    for (std::size_t k = 0; k < servers_.size(); ++k) {
      const std::size_t begin = shard_begin(values.size(), k, servers_.size());
      const std::size_t end = shard_begin(values.size(), k + 1, servers_.size());
      pushes.push_back(servers_[k].async<&ParameterServer::push>(
          from.step, worker, Array<float>::copy_of(values.subspan(begin, end - begin))));
    }
    Parameters next{.step = from.step + 1, .values = joined(when_all(std::move(pushes)).get())};
    if (worker == 0 && !examples.empty()) progress.step_done(next.step, loss, examples.size());
    return next;
  };

  int attempts = 0;
  for (Duration pause = kFirstPause;; pause *= 2) {
    try {
      Parameters parameters = latest_parameters(servers_);
      while (parameters.step < training_.steps) {
        parameters = train(parameters);
        attempts = 0;
        pause = kFirstPause;
      }
      return;
    } catch (const Error& error) {
      // A server was restarted, alone or with all: go on from where they are now.
      if (error.kind() != ErrorKind::disconnected || ++attempts == kMostAttempts) throw;
    }
    if (!node.wait_for(pause)) return;
  }
}

GroupHandle<ParameterServer> add_synchronous_training(Program& program, const LearningTask& task,
                                                      const SynchronousTraining& training) {
  const FailurePolicy policy = training.restarts > 0 ? restart(training.restarts) : kStopProgram;
  auto servers = program.group<ParameterServer>(
      {.name = "server", .replicas = training.servers, .on_failure = policy}, context, InitialShard{task.model},
      ParameterServerOptions{.rule = training.rule,
                             .workers = static_cast<std::uint32_t>(training.workers),
                             .divisor = static_cast<float>(training.batch),
                             .cut_every = training.cut_every,
                             .last_step = training.steps});
  program.group<SynchronousWorker>(
      {.name = "worker", .replicas = training.workers, .on_failure = policy, .ends_program = true}, servers, task,
      training);
  return servers;
}

}  // namespace lp
