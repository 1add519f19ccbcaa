#pragma once
// Workers without parameter servers, whose exchanges call other nodes: the part of the graph that such schemes share.
// Values; pure functions.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/program/program.h"
#include "programs/training/training.h"
#include "programs/training/worker.h"

namespace lp {

// A scheme whose exchange calls these nodes (a Handle or a GroupHandle). The exchange gets their clients where a worker
// starts.
template <class Nodes>
struct BoundScheme {
  using Called = decltype(std::declval<const Nodes&>().dereference(std::declval<Context&>()));

  Scheme scheme{};
  Nodes nodes;
  std::function<std::unique_ptr<Exchange>(const ExchangeParts&, const Called&)> exchange{};

  Scheme dereference(Context& worker) const {
    Scheme out = scheme;
    out.exchange = [make = exchange, called = nodes.dereference(worker)](const ExchangeParts& parts) {
      return make(parts, called);
    };
    return out;
  }
  void append_nodes(std::vector<std::string>& names) const { nodes.append_nodes(names); }
};

// Two kinds of nodes that a scheme's workers call.
template <class First, class Second>
struct BothNodes {
  using Called = std::pair<decltype(std::declval<const First&>().dereference(std::declval<Context&>())),
                           decltype(std::declval<const Second&>().dereference(std::declval<Context&>()))>;

  First first;
  Second second;

  Called dereference(Context& worker) const { return {first.dereference(worker), second.dereference(worker)}; }
  void append_nodes(std::vector<std::string>& names) const {
    first.append_nodes(names);
    second.append_nodes(names);
  }
};

// A worker that fails is restarted up to training.restarts times; without restarts the others go on.
inline FailurePolicy worker_policy(const ServerTraining& training) {
  return training.restarts > 0 ? restart(training.restarts) : ignore();
}

// Adds the group "worker", which ends the program.
template <class Nodes>
TrainingGraph add_decentralized_workers(Program& program, const LearningTask& task, const ServerTraining& training,
                                        const BoundScheme<Nodes>& scheme) {
  if (training.workers < 1) throw Error(ErrorKind::failed, "a training needs at least one worker");
  const GroupHandle<ParameterServer> servers("server", 0);
  const GroupHandle<ParameterService> none(servers);
  const auto workers = program.group<TrainingWorker>({.name = "worker",
                                                      .replicas = training.workers,
                                                      .on_failure = worker_policy(training),
                                                      .ends_program = true,
                                                      .device = task.device},
                                                     none, none, std::vector<Tensor>(), task, training, scheme);
  return {servers, workers};
}

}  // namespace lp
