#include "programs/schemes/feeding.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "programs/training/sampler.h"
#include "programs/training/worker.h"

namespace lp {
namespace {

// The workers, as the argument of a feeder, which starts when the servers are ready, too.
struct FedWorkers {
  TrainingGraph graph;

  Clients<TrainingWorker> dereference(Context& node) const { return graph.workers.dereference(node); }
  void append_nodes(std::vector<std::string>& names) const {
    graph.servers.append_nodes(names);
    graph.workers.append_nodes(names);
  }
};

}  // namespace

Feeder::Feeder(Clients<TrainingWorker> workers, LearningTask task, ServerTraining training, Scheme scheme)
    : workers_(std::move(workers)), task_(std::move(task)), training_(training), scheme_(std::move(scheme)) {}

void Feeder::run(Context& node) {
  Sampler sampler(node, task_, training_, scheme_);
  const Client<TrainingWorker>& worker = workers_[static_cast<std::size_t>(node.index())];
  for (std::uint64_t step = 0;;) {
    std::optional<Dataset> batch = sampler.batch(step);
    const bool over = !batch.has_value();
    try {
      step = worker.call<&TrainingWorker::feed>(step, std::move(batch));
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::disconnected) return;  // there is nobody to feed any more
      if (error.kind() != ErrorKind::deadline || !over) throw;
    }
  }
}

TrainingGraph add_fed_training(Program& program, const LearningTask& task, const ServerTraining& training,
                               const Scheme& scheme) {
  TrainingGraph graph = add_server_training(program, {.model = task.model, .device = task.device}, training, scheme);
  program.group<Feeder>({.name = "feeder", .replicas = training.workers, .on_failure = restart_or_stop(training)},
                        FedWorkers{graph}, task, training, scheme);
  return graph;
}

}  // namespace lp
