// Members of elastic groups come and go as long as enough are left. Other nodes are given up for good.

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "launchers/supervisor/coordinator.h"

namespace lp::launch {

void Coordinator::set_gone(NodeId id, bool gone) {
  Node& node = nodes_[id];
  if (node.gone == gone) return;
  node.gone = gone;
  if (!was_ready_[id]) {
    was_ready_[id] = true;
    --not_ready_;
  }
  if (counts(id) && !node.finished) wait_for(id, !gone);
  ++epochs_[graph_.nodes[id].group];
  update_neighbours(id);
  for (const NodeId caller : graph_.nodes[id].callers) {
    nodes_[caller].awaited += gone ? -1UL : 1UL;
    run_if_possible(caller);
  }
}

// The number of present members without those of the process `but`. Members that are about to start or have done their
// work count.
std::size_t Coordinator::members_there(std::size_t group, std::size_t but) const {
  const auto& nodes = graph_.groups[group].nodes;
  return static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) {
    const std::size_t process = graph_.nodes[id].process;
    return process != but &&
           (nodes_[id].finished || is_up(processes_[process]) || processes_[process].state == Process::State::down);
  }));
}

// Begins all processes for which there is room.
void Coordinator::begin_processes() {
  for (std::size_t process = 0; process < processes_.size() && phase_ < Phase::stopping; ++process)
    start_where_there_is_room(process);
  for (const SupervisionGraph::Group& group : graph_.groups) {
    const auto absent = [&](NodeId id) { return processes_[graph_.nodes[id].process].state == Process::State::absent; };
    const auto first = std::find_if(group.nodes.begin(), group.nodes.end(), absent);
    if (first == group.nodes.end()) continue;
    const auto there = std::count_if(group.nodes.begin(), group.nodes.end(), std::not_fn(absent));
    listener_.log("group " + group.name + " starts with " + std::to_string(there) + " of " + group.replicas +
                  " members: " + nodes_[*first].text);
  }
}

// Assigns a place to the process, which belongs to elastic groups. Returns why that is impossible; empty: it has a
// place.
std::string Coordinator::place(std::size_t index) { return executor_.place(index, /*needed=*/!too_few(index).empty()); }

void Coordinator::start_where_there_is_room(std::size_t index) {
  const std::string shortage = graph_.processes[index].elastic ? place(index) : std::string();
  if (shortage.empty()) return start_process(index);
  processes_[index].no_room = true;
  give_up(index, cause_of(index, "has no host: " + shortage));
}

void Coordinator::on_room() {
  for (std::size_t index = 0; index < processes_.size() && phase_ < Phase::stopping; ++index) {
    const Process& process = processes_[index];
    if (process.state != Process::State::absent || !process.no_room) continue;
    if (place(index).empty()) come(index);
  }
}

// Starts the process, which was absent. If members are going back to a cut, it goes with them.
void Coordinator::come(std::size_t index) {
  if (!graph_.processes[index].member || !members_go_back()) return start_process(index);
  processes_[index].state = Process::State::down;
  restart_if_possible(index);
}

// The program continues without the process.
void Coordinator::give_up(std::size_t index, const Cause& cause) {
  Process& process = processes_[index];
  const bool elastic = graph_.processes[index].elastic;
  process.state = elastic ? Process::State::absent : Process::State::ended;
  note(elastic ? RunEvent::Kind::left : RunEvent::Kind::ignored, cause.node, cause.incarnation,
       (elastic ? cause.what + "; " : "") + "the program continues without it");
  if (process.incarnation > 0) listener_.log(cause.node + ": " + cause.what + "; the program continues without it");
  if (!process.no_room && !ignored_.has_value()) ignored_ = cause;
  for (const NodeId node : graph_.processes[index].nodes) {
    nodes_[node].member = false;  // no cut waits for it, or fails because it is absent
    for (auto one = saved_.begin(); one != saved_.end();) {
      one->second.erase(node);
      one = one->second.empty() ? saved_.erase(one) : std::next(one);
    }
    nodes_[node].text = cause.what;
    set_gone(node, true);
  }
  if (elastic) {
    executor_.release(index);
    if (!process.no_room) on_room();
  }
  if (const std::string shortage = too_few(index); !shortage.empty()) {
    Cause stops = cause;
    stops.what += "; " + shortage;
    return fail(std::move(stops));
  }
  if (phase_ == Phase::starting && not_ready_ == 0) set_phase(Phase::running);
  if (graph_.processes[index].member) {
    complete_cut();
    restart_if_possible(index);
  }
  end_if_done();
}

// Returns "group worker has 1 member left, but needs 2" if a group of the process has too few members without it;
// empty: enough are left.
std::string Coordinator::too_few(std::size_t index) const {
  for (const NodeId id : graph_.processes[index].nodes) {
    const SupervisionGraph::Group& group = graph_.groups[graph_.nodes[id].group];
    const std::size_t there = members_there(graph_.nodes[id].group, index);
    if (there >= group.least) continue;
    return "group " + group.name + " has " + std::to_string(there) + (there == 1 ? " member" : " members") +
           " left, but needs " + std::to_string(group.least);
  }
  return {};
}

}  // namespace lp::launch
