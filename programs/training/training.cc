#include "programs/training/training.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "lp/base/error.h"
#include "nodes/parameters/leaf_server.h"
#include "programs/training/worker.h"

namespace lp {
namespace {

// The nodes above a node of a tree, one for every shard: all servers, or one node of the level above.
struct Above {
  GroupHandle<ParameterService> services;
  int shards = 0;  // shards of the one node; 0: a server has one each

  Clients<ParameterService> dereference(Context& node) const {
    if (shards == 0) return services.dereference(node);
    return Clients<ParameterService>(std::vector<Client<ParameterService>>(
        static_cast<std::size_t>(shards), services[node.index() % services.size()].dereference(node)));
  }
  void append_nodes(std::vector<std::string>& names) const { services.append_nodes(names); }
};

std::string name_of_level(std::size_t level) { return level == 0 ? "leaf" : "level" + std::to_string(level); }

// Adds the servers between the workers and the others; returns the nodes that the workers call.
Above add_levels(Program& program, const ServerTraining& training, const std::vector<int>& levels,
                 const GroupHandle<Learner>& workers, const Above& servers) {
  Above above = servers;
  for (std::size_t level = levels.size(); level-- > 0;) {
    const auto learners = level == 0 ? workers : GroupHandle<Learner>(name_of_level(level - 1), levels[level - 1]);
    const auto nodes = program.group<LeafServer>(
        {.name = name_of_level(level), .replicas = levels[level], .on_failure = restart_or_stop(training)}, context,
        above, learners, training.bad_values);
    above = {.services = nodes, .shards = servers.services.size()};
  }
  return above;
}

void check(const ServerTraining& training, const Scheme& scheme) {
  for (int below = training.workers; const int nodes : scheme.levels) {
    if (nodes < 1 || nodes > below) {
      throw Error(ErrorKind::failed, "a tree has " + std::to_string(nodes) + " leaves for " + std::to_string(below) +
                                         " workers: give at least one, and fewer leaves");
    }
    below = nodes;
  }
  if (!scheme.levels.empty() && scheme.takes_rows) {
    throw Error(ErrorKind::failed,
                "a tree sums gradients of all parameters, but the workers of this scheme push only some rows: leave "
                "out the levels, or the rows");
  }
  if (training.replicated && training.servers == 1) {
    throw Error(ErrorKind::failed, "the other servers hold the replicas of a server: give at least two servers");
  }
  if (!scheme.levels.empty() && training.replicated) {
    throw Error(ErrorKind::failed, "a tree cannot use the replicas of failed servers: give restarts instead");
  }
  if (scheme.learns_in_workers && training.replicated && training.restarts > 0) {
    throw Error(ErrorKind::failed,
                "a worker that holds the parameters is restarted from a checkpoint, but there are no checkpoints with "
                "replicas of the servers: leave out the replicas, or the restarts");
  }
  if (training.workers >= 1 && training.servers >= 1) return;
  throw Error(ErrorKind::failed, "a training has " + std::to_string(training.workers) + " workers and " +
                                     std::to_string(training.servers) + " servers: give at least one of each");
}

}  // namespace

FailurePolicy restart_or_stop(const ServerTraining& training) {
  return training.restarts > 0 ? restart(training.restarts) : stop_program();
}

CompressionOptions compression_of(const ServerTraining& training, const Scheme& scheme) {
  return scheme.compression.any() ? scheme.compression : training.compression;
}

bool cuts_workers(const ServerTraining& training, const Scheme& scheme) {
  const bool in_step = std::holds_alternative<Synchronous>(scheme.consistency) ||
                       std::holds_alternative<BoundedDelay>(scheme.consistency);
  const bool has_state = scheme.learns_in_workers || compression_of(training, scheme).kind != Compression::none;
  return in_step && !training.replicated && has_state;
}

std::vector<Tensor> SchemeTensors::dereference(Context&) const {
  if (scheme.tensors) return scheme.tensors(task, training);
  const std::unique_ptr<Model> model = task.model();
  const auto width = static_cast<std::uint32_t>(std::max<Eigen::Index>(model->width(), 1));
  const std::uint64_t rows = static_cast<std::uint64_t>(model->size()) / width;
  Tensor tensor = dense_tensor(task, Partition::ring(rows, static_cast<std::uint32_t>(training.servers)));
  tensor.width = width;
  return {tensor};
}

std::function<std::vector<float>(std::uint64_t seed)> initial_parameters(const LearningTask& task) {
  return [model = task.model](std::uint64_t run_seed) {
    const Eigen::VectorXf all = model()->initialize(run_seed);
    return std::vector<float>(all.begin(), all.end());
  };
}

Tensor dense_tensor(const LearningTask& task, Partition partition) {
  return {.partition = std::move(partition), .initial = initial_parameters(task)};
}

GroupHandle<ParameterServer> add_servers(Program& program, const LearningTask& task, const ServerTraining& training,
                                         const Scheme& scheme, int pushers) {
  check(training, scheme);
  check(scheme.consistency, static_cast<std::uint32_t>(pushers));
  const ParameterServerOptions options{.shard = {.rule = scheme.rule,
                                                 .consistency = scheme.consistency,
                                                 .workers = static_cast<std::uint32_t>(pushers),
                                                 .bad_values = training.bad_values},
                                       .replicated = training.replicated,
                                       .checkpoint_every = training.replicated ? 0 : training.checkpoint_every,
                                       .last_step = training.replicated ? 0 : training.steps};
  auto servers = program.declare_group<ParameterServer>(
      {.name = "server",
       .replicas = training.servers,
       .on_failure = training.replicated ? ignore() : restart_or_stop(training)});
  program.define(servers, context, SchemeTensors{task, training, scheme}, options,
                 training.replicated ? servers : GroupHandle<ParameterServer>(servers.name(), 0));
  return servers;
}

TrainingGraph add_server_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                  const Scheme& scheme) {
  const int pushers = scheme.levels.empty() ? training.workers : scheme.levels.back();
  const auto servers = add_servers(program, task, training, scheme, pushers);
  const SchemeTensors tensors{task, training, scheme};
  const bool spares = scheme.spare_workers > 0 && training.restarts == 0;
  const GroupOptions group{
      .name = "worker",
      .replicas = training.workers,
      .on_failure = spares ? ignore(training.workers - scheme.spare_workers) : restart_or_stop(training),
      .ends_program = true,
      .device = task.device};
  const Above above = add_levels(program, training, scheme.levels, GroupHandle<Learner>(group.name, training.workers),
                                 {.services = servers});
  return {servers, add_workers(program, group, above, servers, tensors, task, training, scheme)};
}

Parameters trained_parameters(const Clients<ParameterServer>& servers, const Clients<TrainingWorker>& workers,
                              Eigen::Index size) {
  for (const Client<TrainingWorker>& worker : workers) {
    try {
      Parameters learned = worker.call<&TrainingWorker::learned>();
      if (learned.values.size() > 0) return learned;
      if (servers.size() > 0) break;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;  // another worker knows them, too
    }
  }
  if (servers.size() > 0) return all_parameters(servers, size);
  throw Error(ErrorKind::disconnected, "no worker is left that knows the parameters");
}

}  // namespace lp
