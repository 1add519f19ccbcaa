#include "launchers/supervisor/coordinator.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "launchers/control/measurement.h"
#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {
// Between two probes lies a sixth of the heartbeat; the rest is the time to answer. A hang is therefore found within
// the heartbeat.
constexpr int kProbesPerHeartbeat = 6;
// When an alarm goes off later than this, this process itself was stopped, and there may be unread answers.
constexpr auto kLateAlarm = std::chrono::seconds(1);
// A start that takes longer is logged: nothing else shows why the others wait.
constexpr auto kSlowStart = std::chrono::seconds(30);
}  // namespace

Coordinator::Coordinator(const SupervisionGraph& graph, Options options, Executor& executor, Listener& listener)
    : graph_(graph),
      options_(std::move(options)),
      executor_(executor),
      listener_(listener),
      nodes_(graph.nodes.size()),
      processes_(graph.processes.size()),
      was_ready_(nodes_.size()),
      not_ready_(nodes_.size()),
      left_(graph.groups.size()),
      waited_for_(graph.groups.size()),
      epochs_(graph.groups.size()) {
  for (NodeId node = 0; node < nodes_.size(); ++node) {
    nodes_[node].awaited = graph_.nodes[node].calls.size();
    if (!counts(node)) continue;
    ++left_[graph_.nodes[node].group];
    waited_for_[graph_.nodes[node].group] = true;
    ++all_left_;
  }
}

bool Coordinator::counts(NodeId node) const {
  const SupervisionGraph::Node& what = graph_.nodes[node];
  return what.active && !options_.idle.contains(graph_.groups[what.group].name);
}

bool Coordinator::is_up(const Process& process) {
  return process.state == Process::State::up || process.state == Process::State::failing ||
         process.state == Process::State::discarded;
}

void Coordinator::start(RestorePoint cut, Time now) {
  now_ = now;
  cut_ = std::move(cut);
  listener_.on_phase(phase_);
  for (std::size_t process = 0; process < processes_.size(); ++process)
    processes_[process].key = executor_.make_key(process);
  keyed_ = !processes_.empty() && !processes_.front().key.empty();
  begin_processes();
  if (processes_.empty()) finish("the program has no nodes");
}

void Coordinator::advance(Time now) {
  now_ = now;
  const bool late = alarms_.next() != kNever && now - alarms_.next() > kLateAlarm;
  while (const auto key = alarms_.take(now)) fire(*key, late || lenient_);
}

std::string Coordinator::why_late(std::size_t index) const {
  const std::string delay = executor_.delay(index);
  return delay.empty() ? "its constructor or load() takes too long" : delay;
}

// One line for all processes that are slow by now.
void Coordinator::log_slow_start(std::size_t index) {
  std::size_t others = 0;
  for (std::size_t other = 0; other < processes_.size(); ++other) {
    if (alarms_.has({Due::slow, other})) ++others;
    alarms_.cancel({Due::slow, other});
  }
  const std::string they = others == 0   ? " is"
                           : others == 1 ? " and another one are"
                                         : " and " + std::to_string(others) + " others are";
  listener_.log(graph_.processes[index].name + they + " not ready after " + duration_text(kSlowStart) + ": " +
                why_late(index) + "; a start may take " + duration_text(options_.start));
}

void Coordinator::fire(const Key& key, bool late) {
  switch (key.due) {
    case Due::probe: return probe(static_cast<NodeId>(key.index), late);
    case Due::slow: return log_slow_start(key.index);
    case Due::start:
      return begin_failure(key.index, cause_of(key.index, "was not ready in time: " + why_late(key.index)),
                           Failure::hang);
    case Due::kill: return kill_process(key.index);
    case Due::force:
      return executor_.abandon(graph_.processes[key.index].name + " did not end, although it was killed");
    case Due::restart: processes_[key.index].backoff = false; return restart_if_possible(key.index);
    case Due::grace: return end_grace();
    case Due::cut:
      return stop(last_cut_->reason + "; no checkpoint was complete in time", last_cut_->by, last_cut_->signal);
  }
}

void Coordinator::flush() {
  for (const auto& [process, peers] : std::exchange(news_, {})) {
    if (!is_up(processes_[process]) || phase_ >= Phase::stopping)
      continue;  // its start will deliver the news, if it starts
    std::vector<PeerState> list;
    for (const auto& [node, state] : peers) list.push_back(state);
    executor_.update(process, list);
  }
  if (!outside_news_.empty()) {
    std::vector<PeerState> list;
    for (auto& [node, state] : std::exchange(outside_news_, {})) list.push_back(state);
    listener_.on_peers(list);
  }
  for (const NodeId node : std::exchange(to_run_, {})) {
    if (nodes_[node].ready && nodes_[node].running) executor_.order(node, NodeOrder::run);
  }
}

void Coordinator::set_phase(Phase phase) {
  if (phase_ == phase) return;
  phase_ = phase;
  if (phase == Phase::ended) {
    note(RunEvent::Kind::ended, {}, 0, result_.reason);
  } else {
    note(RunEvent::Kind::phase, {}, 0,
         std::string(enum_name(phase)) + (phase == Phase::stopping ? ": " + result_.reason : ""));
  }
  listener_.on_phase(phase);
}

void Coordinator::note(RunEvent::Kind kind, const std::string& node, std::uint32_t incarnation, std::string text) {
  listener_.on_event({.kind = kind, .node = node, .incarnation = incarnation, .text = std::move(text)});
}

void Coordinator::start_process(std::size_t index) {
  Process& process = processes_[index];
  const bool comes = process.state == Process::State::absent;
  bool restored = !comes;
  ++process.incarnation;
  process.cause.reset();
  process.failed = false;
  process.no_room = false;
  if (process.key.empty()) process.key = executor_.make_key(index);
  news_.erase(index);
  note(RunEvent::Kind::starting, graph_.processes[index].name, process.incarnation);
  for (const NodeId id : graph_.processes[index].nodes) {
    Node& node = nodes_[id];
    node.running = false;
    node.cut_short = false;
    node.asked = false;
    node.work.clear();
    node.member = graph_.nodes[id].member;
    node.came = comes;
    node.first_saved.reset();
    node.saved.reset();
    restored = restored && (!node.member || cut_.members.contains(id));
    set_finished(id, false);
    if (process.incarnation > 1) update_neighbours(id);
    for (const NodeId callee : graph_.nodes[id].calls) {
      const bool elsewhere = graph_.nodes[callee].process != index;
      if ((elsewhere && nodes_[callee].ready) || epochs_[graph_.nodes[callee].group] > 0) {
        news_[index][callee] = peer_state(callee);
      }
    }
    // The node must refuse messages that earlier incarnations of its callers still send, and it must know its callers'
    // keys.
    for (const NodeId caller : graph_.nodes[id].callers) {
      const std::size_t other = graph_.nodes[caller].process;
      if (other != index && (keyed_ || processes_[other].incarnation > 1)) {
        news_[index].try_emplace(caller, replaced_state(caller));
      }
    }
  }
  if (!options_.no_deadlines) {
    alarms_.set({Due::start, index}, later(now_, options_.start));
    if (options_.start > kSlowStart) alarms_.set({Due::slow, index}, now_ + kSlowStart);
  }
  process.state = Process::State::up;  // from now on the executor reports its end
  ++up_;
  executor_.start(index, process.incarnation,
                  graph_.processes[index].member && restored ? cut_.path : std::filesystem::path());
}

// The state for a node that is called by this one and need not reach it.
PeerState Coordinator::replaced_state(NodeId node) const {
  const Process& process = processes_[graph_.nodes[node].process];
  return {.node = node, .incarnation = process.incarnation, .key = process.key};
}

PeerState Coordinator::peer_state(NodeId node) const {
  const Process& process = processes_[graph_.nodes[node].process];
  return {.node = node,
          .incarnation = process.incarnation,
          .endpoint = nodes_[node].ready ? nodes_[node].endpoint : std::string(),
          .key = process.key,
          .gone = nodes_[node].gone,
          .text = nodes_[node].gone ? nodes_[node].text : std::string(),
          .epoch = epochs_[graph_.nodes[node].group]};
}

void Coordinator::update_neighbours(NodeId node) {
  const SupervisionGraph::Node& spec = graph_.nodes[node];
  const PeerState state = peer_state(node);
  if ((keyed_ || state.incarnation > 1) && !nodes_[node].ready) {
    for (const NodeId callee : spec.calls) {
      if (graph_.nodes[callee].process != spec.process) {
        news_[graph_.nodes[callee].process][node] = replaced_state(node);
      }
    }
  }
  for (const NodeId caller : spec.callers) {
    const std::size_t process = graph_.nodes[caller].process;
    if (process != spec.process || state.epoch > 0) news_[process][node] = state;
  }
  outside_news_[node] = state;
}

void Coordinator::set_ready(NodeId id, bool ready) {
  Node& node = nodes_[id];
  if (node.ready == ready) return;
  node.ready = ready;
  if (ready && !was_ready_[id]) {
    was_ready_[id] = true;
    --not_ready_;
  }
  for (const NodeId caller : graph_.nodes[id].callers) nodes_[caller].awaited += ready ? -1UL : 1UL;
  update_neighbours(id);
}

void Coordinator::set_finished(NodeId node, bool finished) {
  if (nodes_[node].finished == finished) return;
  nodes_[node].finished = finished;
  if (!counts(node)) return;
  succeeded_ += finished ? 1UL : -1UL;
  if (!nodes_[node].gone) wait_for(node, !finished);
}

// Counts the node's run() among those that must return, or no longer counts it.
void Coordinator::wait_for(NodeId node, bool wait) {
  const std::size_t change = wait ? 1UL : -1UL;
  left_[graph_.nodes[node].group] += change;
  all_left_ += change;
}

void Coordinator::run_if_possible(NodeId id) {
  Node& node = nodes_[id];
  if (!node.ready || node.running || node.finished || node.awaited > 0 || !counts(id) || phase_ >= Phase::stopping)
    return;
  node.running = true;
  to_run_.push_back(id);
}

void Coordinator::on_spawned(std::size_t process, std::uint32_t incarnation, int pid) {
  if (processes_[process].incarnation == incarnation) processes_[process].pid = pid;
}

void Coordinator::on_event(const NodeEvent& event) {
  const Process& process = processes_[graph_.nodes[event.node].process];
  if (process.incarnation != event.incarnation || !is_up(process)) return;
  std::visit([&](const auto& what) { handle(event.node, what); }, event.what);
}

void Coordinator::handle(NodeId id, const NodeEvent::Ready& ready) {
  const std::size_t process = graph_.nodes[id].process;
  if (phase_ >= Phase::stopping || processes_[process].state != Process::State::up) return;
  const std::uint32_t incarnation = processes_[process].incarnation;
  nodes_[id].endpoint = ready.endpoint;
  const bool comes = nodes_[id].gone;
  set_gone(id, false);
  set_ready(id, true);
  note(RunEvent::Kind::ready, graph_.nodes[id].name, incarnation);
  if (comes) {
    note(RunEvent::Kind::came, graph_.nodes[id].name, incarnation, "the program continues with it");
    listener_.log(graph_.nodes[id].name + " has joined; the program continues with it");
  }
  const auto& fellows = graph_.processes[process].nodes;
  if (std::all_of(fellows.begin(), fellows.end(), [&](NodeId fellow) { return nodes_[fellow].ready; })) {
    for (const Due due : {Due::start, Due::slow}) alarms_.cancel({due, process});
  }
  handle(id, NodeEvent::Alive{});
  run_if_possible(id);
  for (const NodeId caller : graph_.nodes[id].callers) run_if_possible(caller);
  if (phase_ == Phase::starting && not_ready_ == 0) set_phase(Phase::running);
}

void Coordinator::handle(NodeId node, const NodeEvent::Finished& finished) {
  const Process& process = processes_[graph_.nodes[node].process];
  if (process.state != Process::State::up) return;
  const auto& answers = finished.answers;
  const auto has_gone = [this](const NodeEvent::Answer& answer) { return has_gone_back(answer); };
  const auto gone = std::find_if(answers.begin(), answers.end(), has_gone);
  if (phase_ < Phase::stopping && gone != answers.end()) {
    return discard(graph_.nodes[node].process, graph_.nodes[gone->callee].process);
  }
  set_finished(node, true);
  nodes_[node].cut_short = phase_ == Phase::stopping && (failed_ || !result_.stopped_by.empty());
  note(RunEvent::Kind::finished, graph_.nodes[node].name, process.incarnation);
  end_if_done();
}

void Coordinator::handle(NodeId node, const Progress& progress) {
  nodes_[node].progress = {.step = progress.step, .total = progress.total, .values = progress.values};
  listener_.on_progress(node, progress);
  const auto order = [this](NodeId id) { return std::pair(nodes_[id].progress.total == 0, id); };
  if (!speaker_.has_value() || order(node) < order(*speaker_)) speaker_ = node;
}

void Coordinator::handle(NodeId id, const NodeEvent::Alive&) {
  if (options_.no_deadlines || phase_ >= Phase::stopping) return;
  nodes_[id].asked = false;
  nodes_[id].work.clear();
  const Duration own = graph_.groups[graph_.nodes[id].group].heartbeat;
  const Duration heartbeat = own > Duration::zero() ? own : options_.heartbeat;
  alarms_.set({Due::probe, id}, later(now_, heartbeat / kProbesPerHeartbeat));
}

void Coordinator::handle(NodeId id, const NodeEvent::Busy& busy) {
  if (!nodes_[id].asked) return;
  nodes_[id].work = busy.work;
  nodes_[id].work_begin = later(now_, -busy.age);
}

void Coordinator::probe(NodeId id, bool late) {
  Node& node = nodes_[id];
  if (!node.ready) return;
  const SupervisionGraph::Node& spec = graph_.nodes[id];
  const Duration own = graph_.groups[spec.group].heartbeat;
  const Duration heartbeat = own > Duration::zero() ? own : options_.heartbeat;
  if (node.asked && !late) {
    std::string what = "hangs: its service has not answered within the heartbeat of " + duration_text(heartbeat);
    if (!node.work.empty()) {
      what += "; it has been in " + node.work + ", for " + duration_text(now_ - node.work_begin);
    }
    Cause cause = cause_of(spec.process, std::move(what));
    cause.node = spec.name;
    cause.hanging = true;
    return begin_failure(spec.process, std::move(cause), Failure::hang);
  }
  alarms_.set({Due::probe, id}, later(now_, heartbeat - heartbeat / kProbesPerHeartbeat));
  if (!std::exchange(node.asked, true)) executor_.order(id, NodeOrder::probe);
}

std::vector<std::size_t> Coordinator::processes_up() const {
  std::vector<std::size_t> up;
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    if (processes_[process].state == Process::State::up) up.push_back(process);
  }
  return up;
}

std::vector<std::size_t> Coordinator::measure(Inquiry what) {
  std::vector<std::size_t> up = processes_up();
  executor_.measure(up, what);
  return up;
}

std::vector<std::size_t> Coordinator::record_spans(const SpanOrder& order) {
  std::vector<std::size_t> up = processes_up();
  executor_.record_spans(up, order);
  return up;
}

std::size_t Coordinator::measure(Inquiry what, const std::string& node) {
  const std::size_t process = graph_.nodes[find(node)].process;
  if (processes_[process].state != Process::State::up) {
    throw Error(ErrorKind::failed, node + " has no process now");
  }
  executor_.measure({&process, 1}, what);
  return process;
}

void Coordinator::on_measured(std::size_t process, std::uint32_t incarnation, Measurement part) {
  if (processes_[process].incarnation == incarnation) listener_.on_measured(process, std::move(part));
}

void Coordinator::handle(NodeId node, const NodeEvent::Saved& saved) {
  if (processes_[graph_.nodes[node].process].state == Process::State::up) add_to_cut(node, saved.step);
  executor_.order(node, NodeOrder::may_save);
}

void Coordinator::add_to_cut(NodeId node, std::uint64_t step) {
  if (!nodes_[node].member || (!cut_.path.empty() && step <= cut_.step)) return;
  if (!nodes_[node].first_saved.has_value()) nodes_[node].first_saved = step;
  nodes_[node].saved = step;
  if (lost_cuts_.contains(step)) return give_up_cut(step);
  saved_[step].insert(node);
  complete_cut();
}

// Returns true if a cut that the nodes in `saved` have saved waits for this node. A node that came late takes part from
// its first step on.
bool Coordinator::is_awaited(NodeId id, std::uint64_t step, const std::set<NodeId>& saved) const {
  const Node& node = nodes_[id];
  if (!node.member || saved.contains(id)) return false;
  return !node.came || (node.first_saved.has_value() ? *node.first_saved < step : node.ready);
}

// Completes the newest cut that all have saved, if there is any.
void Coordinator::complete_cut() {
  std::optional<std::uint64_t> complete;
  for (const auto& [step, who] : saved_) {
    NodeId id = 0;
    while (id < nodes_.size() && !is_awaited(id, step, who)) ++id;
    if (id == nodes_.size()) complete = step;
  }
  if (!complete.has_value()) return give_up_cuts();
  const std::uint64_t step = *complete;
  const std::set<NodeId> members = std::move(saved_[step]);
  saved_.erase(saved_.begin(), saved_.upper_bound(step));  // older cuts will not be needed
  const std::string name = "the checkpoint of step " + std::to_string(step);
  try {
    cut_ = listener_.on_cut_saved(step, members);
  } catch (const Error& error) {
    log_failed_cut(name + " could not be saved, and the one before it is kept: " + error.text());
    return give_up_cut(step);
  }
  lost_cuts_.erase(lost_cuts_.begin(), lost_cuts_.upper_bound(step));
  note(RunEvent::Kind::cut, {}, 0, name + " is complete");
  end_cut(step, /*complete=*/true);
  if (!std::exchange(cut_failure_, {}).empty()) listener_.log(name + " is complete again");
  if (last_cut_.has_value()) {
    stop(last_cut_->reason + "; its checkpoint is that of step " + std::to_string(step), last_cut_->by,
         last_cut_->signal);
  }
}

void Coordinator::give_up_cut(std::uint64_t step) {
  listener_.on_cut_given_up(step);
  end_cut(step, /*complete=*/false);
}

// Notifies the processes of members, whose nodes may wait for it.
void Coordinator::end_cut(std::uint64_t step, bool complete) {
  for (std::size_t index = 0; index < processes_.size(); ++index) {
    if (graph_.processes[index].member && processes_[index].state == Process::State::up) {
      executor_.end_cut(index, step, complete);
    }
  }
}

// A full disk fails each cut for each member, so it is reported once.
void Coordinator::log_failed_cut(const std::string& text) {
  if (!cut_failure_.empty()) return;
  note(RunEvent::Kind::cut_failed, {}, 0, cut_failure_ = text);
  listener_.on_cut_failed(text + "; further failures are not reported until one is complete");
}

// The steps of a node only grow: it will never save a step that it has passed.
void Coordinator::give_up_cuts() {
  for (auto one = saved_.begin(); one != saved_.end();) {
    const auto& [step, who] = *one;
    NodeId passed_by = 0;
    const auto has_passed = [&, step = step, &who = who](NodeId id) {
      return is_awaited(id, step, who) && nodes_[id].saved > step;
    };
    while (passed_by < nodes_.size() && !has_passed(passed_by)) ++passed_by;
    if (passed_by == nodes_.size()) {
      ++one;
      continue;
    }
    if (!std::exchange(gave_up_cuts_, true)) {
      listener_.log("the checkpoint of step " + std::to_string(step) + " is abandoned, because " +
                    graph_.nodes[passed_by].name + " has saved step " + std::to_string(*nodes_[passed_by].saved) +
                    " and not this one: nodes that save must call checkpoint() at the same steps");
    }
    give_up_cut(step);
    one = saved_.erase(one);
  }
}

void Coordinator::handle(NodeId node, const NodeEvent::NotSaved& not_saved) {
  log_failed_cut(graph_.nodes[node].name + " could not save its part of the checkpoint of step " +
                 std::to_string(not_saved.step) + ", and the checkpoint before it is kept: " + not_saved.text);
  constexpr std::size_t kRemembered = 1000;
  lost_cuts_.insert(not_saved.step);
  if (lost_cuts_.size() > kRemembered) lost_cuts_.erase(lost_cuts_.begin());
  saved_.erase(not_saved.step);
  give_up_cut(not_saved.step);
}

}  // namespace lp::launch
