// The coordinator's state, for people and tools.

#include "launchers/supervisor/coordinator.h"

namespace lp::launch {
namespace {

using State = NodeStatus::State;

constexpr auto kLeastShownWork = std::chrono::seconds(1);  // work that is worth telling

}  // namespace

NodeStatus::State Coordinator::state_of(NodeId id) const {
  const Node& node = nodes_[id];
  const Process& process = processes_[graph_.nodes[id].process];
  switch (process.state) {
    case Process::State::absent: return State::absent;
    case Process::State::failing:
    case Process::State::discarded: return State::failed;
    case Process::State::up:
      if (node.gone) return State::starting;
      break;
    case Process::State::ended:
      if (process.failed) return State::failed;
      return node.finished && !node.cut_short ? State::finished : State::ended;
    case Process::State::waiting:
    case Process::State::down: break;
  }
  if (node.gone) return State::failed;
  if (node.finished) return State::finished;
  if (!node.ready) return process.state == Process::State::up ? State::starting : State::waiting;
  return node.running ? State::running : State::ready;
}

RunStatus Coordinator::status() const {
  RunStatus status{.phase = phase_, .cut = cut_.path.empty() ? 0 : cut_.step, .unsaved = cut_failure_};
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_[id];
    const Process& process = processes_[graph_.nodes[id].process];
    const State state = state_of(id);
    status.nodes.push_back({.name = graph_.nodes[id].name,
                            .state = state,
                            .incarnation = process.incarnation,
                            .restarts = process.restarts,
                            .pid = is_up(process) ? process.pid : 0,
                            .step = node.progress.step,
                            .total = node.progress.total,
                            .values = {node.progress.values.begin(), node.progress.values.end()},
                            .text = node.text,
                            .given_up = state == State::absent || (state == State::failed && node.gone &&
                                                                   process.state == Process::State::ended)});
    if (const Duration age = now_ - node.work_begin; !node.work.empty() && age >= kLeastShownWork) {
      status.nodes.back().work = node.work;
      status.nodes.back().work_seconds = to_seconds(age);
    }
  }
  return status;
}

}  // namespace lp::launch
