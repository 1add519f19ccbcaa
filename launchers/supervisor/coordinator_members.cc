// Who is there: members of elastic groups come and go, as long as enough are left; others are given up for good.

#include <algorithm>
#include <functional>
#include <utility>

#include "launchers/supervisor/coordinator.h"

namespace lp::internal {

void Coordinator::set_gone(NodeId id, bool gone) {
  Node& node = nodes_[id];
  if (node.gone == gone) return;
  node.gone = gone;
  if (!was_ready_[id]) {
    was_ready_[id] = true;
    --not_ready_;
  }
  if (counts(id) && !node.finished) wait_for(id, !gone);
  ++epochs_[topology_.nodes[id].group];
  tell_neighbours(id);
  for (const NodeId caller : topology_.nodes[id].callers) {
    nodes_[caller].awaited += gone ? -1UL : 1UL;
    run_if_possible(caller);
  }
}

// How many of the group there are without those of the unit `but`: they may be about to start, or have done their work.
std::size_t Coordinator::members_there(std::size_t group, std::size_t but) const {
  const auto& nodes = topology_.groups[group].nodes;
  return static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId id) {
    const std::size_t unit = topology_.nodes[id].unit;
    return unit != but && (nodes_[id].finished || is_up(units_[unit]) || units_[unit].state == Unit::State::down);
  }));
}

// All that there is room for.
void Coordinator::begin_units() {
  for (std::size_t unit = 0; unit < units_.size() && phase_ < Phase::stopping; ++unit) start_where_there_is_room(unit);
  for (const Topology::Group& group : topology_.groups) {
    const auto absent = [&](NodeId id) { return units_[topology_.nodes[id].unit].state == Unit::State::absent; };
    const auto first = std::find_if(group.nodes.begin(), group.nodes.end(), absent);
    if (first == group.nodes.end()) continue;
    const auto there = std::count_if(group.nodes.begin(), group.nodes.end(), std::not_fn(absent));
    listener_.say("group " + group.name + " begins with " + std::to_string(there) + " of " + group.replicas +
                  " members: " + nodes_[*first].text);
  }
}

// Why there is no place for the unit, which is of elastic groups; empty: it has one.
std::string Coordinator::place(std::size_t index) { return host_.place(index, /*needed=*/!too_few(index).empty()); }

void Coordinator::start_where_there_is_room(std::size_t index) {
  const std::string shortage = topology_.units[index].elastic ? place(index) : std::string();
  if (shortage.empty()) return start_unit(index);
  units_[index].no_room = true;
  give_up(index, cause_of(index, "has no place: " + shortage));
}

void Coordinator::on_room() {
  for (std::size_t index = 0; index < units_.size() && phase_ < Phase::stopping; ++index) {
    const Unit& unit = units_[index];
    if (unit.state != Unit::State::absent || !unit.no_room) continue;
    if (place(index).empty()) come(index);
  }
}

// The unit was absent. Where members go back to a cut, it goes with them.
void Coordinator::come(std::size_t index) {
  if (!topology_.units[index].member || !members_go_back()) return start_unit(index);
  units_[index].state = Unit::State::down;
  restart_if_possible(index);
}

// The program goes on without the unit.
void Coordinator::give_up(std::size_t index, const Cause& cause) {
  Unit& unit = units_[index];
  const bool elastic = topology_.units[index].elastic;
  unit.state = elastic ? Unit::State::absent : Unit::State::ended;
  note(elastic ? RunEvent::Kind::left : RunEvent::Kind::ignored, cause.node, cause.incarnation,
       (elastic ? cause.what + "; " : "") + "the program goes on without it");
  if (unit.incarnation > 0) listener_.say(cause.node + ": " + cause.what + "; the program goes on without it");
  if (!unit.no_room && !ignored_.has_value()) ignored_ = cause;
  for (const NodeId node : topology_.units[index].nodes) {
    nodes_[node].member = false;  // no cut waits for it, or fails for want of it
    for (auto one = saved_.begin(); one != saved_.end();) {
      one->second.erase(node);
      one = one->second.empty() ? saved_.erase(one) : std::next(one);
    }
    nodes_[node].text = cause.what;
    set_gone(node, true);
  }
  if (elastic) {
    host_.release(index);
    if (!unit.no_room) on_room();
    if (const std::string shortage = too_few(index); !shortage.empty()) {
      Cause stops = cause;
      stops.what += "; " + shortage;
      return fail(std::move(stops));
    }
  }
  if (phase_ == Phase::starting && not_ready_ == 0) set_phase(Phase::running);
  if (topology_.units[index].member) {
    complete_cut();
    restart_if_possible(index);
  }
  end_if_done();
}

// "group worker has 1 member left and needs 2", for a group of the unit, without which it is; empty: enough are left.
std::string Coordinator::too_few(std::size_t index) const {
  for (const NodeId id : topology_.units[index].nodes) {
    const Topology::Group& group = topology_.groups[topology_.nodes[id].group];
    const std::size_t there = members_there(topology_.nodes[id].group, index);
    if (there >= group.least) continue;
    return "group " + group.name + " has " + std::to_string(there) + (there == 1 ? " member" : " members") +
           " left and needs " + std::to_string(group.least);
  }
  return {};
}

}  // namespace lp::internal
