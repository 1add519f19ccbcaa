#include "programs/training.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "nodes/leaf_server.h"
#include "programs/worker.h"

namespace lp {
namespace {

// What a worker of a tree calls for every shard: its leaf.
struct OwnLeaf {
  GroupHandle<LeafServer> leaves;
  int servers;

  Clients<ParameterService> dereference(Context& worker) const {
    const Client<LeafServer> leaf = leaves[worker.index() % leaves.size()].dereference(worker);
    return Clients<ParameterService>(
        std::vector<Client<ParameterService>>(static_cast<std::size_t>(servers), Client<ParameterService>(leaf)));
  }
  void append_nodes(std::vector<std::string>& names) const { leaves.append_nodes(names); }
};

FailurePolicy on_failure(const ServerTraining& training) {
  return training.restarts > 0 ? restart(training.restarts) : kStopProgram;
}

void check(const ServerTraining& training, const Scheme& scheme) {
  if (scheme.leaves > training.workers) {
    throw Error(ErrorKind::failed, "a tree with " + std::to_string(scheme.leaves) + " leaves for " +
                                       std::to_string(training.workers) + " workers: give fewer leaves");
  }
  if (training.workers >= 1 && training.servers >= 1) return;
  throw Error(ErrorKind::failed, "a training with " + std::to_string(training.workers) + " workers and " +
                                     std::to_string(training.servers) + " servers: give one of each at least");
}

// Joins a dense tensor; of each shard values(shard).
template <class Values>
Parameters joined(const std::vector<ShardVersions>& shards, std::uint64_t step, Values values) {
  Eigen::Index size = 0;
  for (const ShardVersions& one : shards) size += static_cast<Eigen::Index>(one.newest.size());
  Parameters out{.step = step, .values = Eigen::VectorXf(size)};
  for (const ShardVersions& one : shards) {
    const float* from = values(one).data();
    const std::uint64_t width = one.ranges.empty() ? 1 : one.newest.size() / key_count(one.ranges);
    for (const KeyRange& range : one.ranges) {
      const auto count = static_cast<std::ptrdiff_t>((range.last - range.begin + 1) * width);
      std::copy(from, from + count, out.values.data() + range.begin * width);
      from += count;
    }
  }
  return out;
}

}  // namespace

std::vector<Tensor> SchemeTensors::dereference(Context&) const {
  if (scheme.tensors) return scheme.tensors(task, training);
  const std::unique_ptr<Model> model = task.model();
  const auto width = static_cast<std::uint32_t>(std::max<Eigen::Index>(model->width(), 1));
  const std::uint64_t rows = static_cast<std::uint64_t>(model->size()) / width;
  Tensor tensor = dense_tensor(task, Partition::ring(rows, static_cast<std::uint32_t>(training.servers)));
  tensor.width = width;
  return {tensor};
}

Tensor dense_tensor(const LearningTask& task, Partition partition) {
  return {.partition = std::move(partition), .initial = [model = task.model](std::uint64_t run_seed) {
            const Eigen::VectorXf all = model()->initialize(run_seed);
            return std::vector<float>(all.begin(), all.end());
          }};
}

GroupHandle<ParameterServer> add_servers(Program& program, const LearningTask& task, const ServerTraining& training,
                                         const Scheme& scheme, int pushers) {
  check(training, scheme);
  const ParameterServerOptions options{.shard = {.rule = scheme.rule,
                                                 .consistency = scheme.consistency,
                                                 .workers = static_cast<std::uint32_t>(pushers),
                                                 .bad_values = training.bad_values},
                                       .replicated = training.replicated,
                                       .cut_every = training.replicated ? 0 : training.cut_every,
                                       .last_step = training.replicated ? 0 : training.steps};
  auto servers =
      program.declare_group<ParameterServer>({.name = "server",
                                              .replicas = training.servers,
                                              .on_failure = training.replicated ? kIgnore : on_failure(training)});
  program.define(servers, context, SchemeTensors{task, training, scheme}, options,
                 training.replicated ? servers : GroupHandle<ParameterServer>(servers.name(), 0));
  return servers;
}

TrainingGraph add_server_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                  const Scheme& scheme) {
  const int pushers = scheme.leaves > 0 ? scheme.leaves : training.workers;
  const auto servers = add_servers(program, task, training, scheme, pushers);
  const SchemeTensors tensors{task, training, scheme};
  const GroupOptions group{
      .name = "worker",
      .replicas = training.workers,
      .on_failure = scheme.loses_workers && training.restarts == 0 ? kIgnore : on_failure(training),
      .ends_program = true};
  if (scheme.leaves > 0) {
    const auto learners = per_replica([all = training.workers, leaves = scheme.leaves](int leaf) {
      return static_cast<std::uint32_t>((all + leaves - 1 - leaf) / leaves);
    });
    auto leaves = program.group<LeafServer>({.name = "leaf", .replicas = scheme.leaves}, servers, learners, index);
    auto workers =
        program.group<TrainingWorker>(group, OwnLeaf{leaves, training.servers}, tensors, task, training, scheme);
    return {servers, workers};
  }
  auto workers =
      program.group<TrainingWorker>(group, GroupHandle<ParameterService>(servers), tensors, task, training, scheme);
  return {servers, workers};
}

Parameters latest_parameters(const Clients<ParameterServer>& servers) {
  std::vector<Future<ShardVersions>> futures;
  for (std::uint32_t shard = 0; shard < servers.size(); ++shard) {
    futures.push_back(servers[shard].async<&ParameterServer::versions>(0, shard));
  }
  const std::vector<ShardVersions> all = when_all(std::move(futures)).get();
  const std::uint64_t step = common_step(all);
  return joined(all, step, [step](const ShardVersions& one) -> const Array<float>& { return one.at(step); });
}

Parameters present_parameters(const Clients<ParameterServer>& servers) {
  std::vector<ShardVersions> all;
  for (std::uint32_t shard = 0; shard < servers.size(); ++shard) {
    try {
      all.push_back(servers[shard].call<&ParameterServer::versions>(0, shard));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;
      all.push_back(servers[(shard + 1) % servers.size()].call<&ParameterServer::versions>(0, shard));
    }
  }
  std::uint64_t step = kUnbounded;
  for (const ShardVersions& one : all) step = std::min(step, one.step);
  return joined(all, step, [](const ShardVersions& one) -> const Array<float>& { return one.newest; });
}

Parameters trained_parameters(const Clients<ParameterServer>& servers, const Clients<TrainingWorker>& workers,
                              Eigen::Index size) {
  for (const Client<TrainingWorker>& worker : workers) {
    try {
      const Array<float> values = worker.call<&TrainingWorker::parameters>();
      if (values.empty()) break;
      return {.step = worker.call<&TrainingWorker::statistics>().steps,
              .values = Eigen::Map<const Eigen::VectorXf>(values.data(), size)};
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected) throw;  // another worker has the same
    }
  }
  Parameters out = present_parameters(servers);
  out.values.conservativeResize(size);  // a last row may be longer than what it holds
  return out;
}

}  // namespace lp
