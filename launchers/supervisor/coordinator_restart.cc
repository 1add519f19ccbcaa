// How the coordinator handles the failure of a process: the policy of its group, restarts, and what is restored
// together.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launchers/supervisor/coordinator.h"
#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr auto kFailureExitTimeout = std::chrono::seconds(1);  // for a process that has reported its own failure
constexpr auto kKillTimeout = std::chrono::seconds(5);         // for a process that was killed
constexpr Duration kLongestBackoff = std::chrono::seconds(10);

// Returns true for an error that the stop itself causes in waiting calls.
bool is_of_a_stop(const Error& error) {
  return error.kind() == ErrorKind::stopped || error.kind() == ErrorKind::disconnected ||
         error.kind() == ErrorKind::deadline;
}

// "a, b, c and 7 more"
std::string list_text(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 10;
  if (names.size() <= kShown + 1) return join(names, ", ");
  return join(std::vector(names.begin(), names.begin() + kShown), ", ") + " and " +
         std::to_string(names.size() - kShown) + " more";
}

}  // namespace

Cause Coordinator::cause_of(std::size_t process, std::string what) const {
  return {
      .node = graph_.processes[process].name, .incarnation = processes_[process].incarnation, .what = std::move(what)};
}

// The nodes of one process fail together, so the strictest policy of its groups holds.
FailurePolicy Coordinator::policy_of(std::size_t process) const {
  FailurePolicy strictest = ignore();
  for (const NodeId node : graph_.processes[process].nodes) {
    const FailurePolicy& policy = graph_.groups[graph_.nodes[node].group].on_failure;
    const bool stricter =
        policy.action < strictest.action || (policy.action == FailurePolicy::Action::restart &&
                                             strictest.action == policy.action && policy.budget < strictest.budget);
    if (stricter) strictest = policy;
  }
  return strictest;
}

void Coordinator::handle(NodeId node, const NodeEvent::Failed& failed) {
  const Error& error = failed.error;
  const std::size_t process = graph_.nodes[node].process;
  Cause cause = cause_of(process, error.what());
  cause.node = graph_.nodes[node].name;
  if (cause.what.starts_with(cause.node + ": ")) cause.what.erase(0, cause.node.size() + 2);
  if (phase_ == Phase::stopping) {
    if (is_of_a_stop(error)) return;
    set_failed(process, cause.what);
    return fail(std::move(cause));
  }
  nodes_[node].text = cause.what;
  begin_failure(process, std::move(cause), failed.for_good ? Failure::for_good : Failure::error);
}

// The process has failed but still runs. It ends first, then its policy applies, unless the failure is for good. A
// process that hangs cannot end by itself.
void Coordinator::begin_failure(std::size_t index, Cause cause, Failure failure) {
  Process& process = processes_[index];
  if (process.state != Process::State::up) return;
  unready(index);
  cancel_alarms(index);
  process.state = Process::State::failing;
  process.cause = cause;
  note(RunEvent::Kind::failed, cause.node, cause.incarnation, cause.what);
  set_failed(index, cause.what);
  if (phase_ == Phase::stopping) return kill_process(index);
  if (failure != Failure::hang) {
    executor_.stop(index, "it failed", false);
    alarms_.set({Due::kill, index}, now_ + kFailureExitTimeout);
  } else {
    kill_process(index);
  }
  if (failure == Failure::for_good || policy_of(index).action == FailurePolicy::Action::stop) {
    culprit_ = failed_ ? culprit_ : std::optional(index);
    fail(std::move(cause));
  }
}

// Remembers that the process's present incarnation has failed, for status().
void Coordinator::set_failed(std::size_t index, const std::string& what) {
  processes_[index].failed = true;
  for (const NodeId node : graph_.processes[index].nodes) nodes_[node].text = what;
}

void Coordinator::kill_process(std::size_t index) {
  alarms_.cancel({Due::kill, index});
  alarms_.set({Due::force, index}, now_ + kKillTimeout);
  executor_.kill(index);
}

void Coordinator::unready(std::size_t index) {
  const bool revoked = !std::exchange(processes_[index].key, {}).empty();
  for (const NodeId node : graph_.processes[index].nodes) {
    set_ready(node, false);
    if (revoked) update_neighbours(node);
  }
}

void Coordinator::cancel_alarms(std::size_t index) {
  for (const Due due : {Due::start, Due::slow, Due::kill, Due::force, Due::restart}) alarms_.cancel({due, index});
  for (const NodeId node : graph_.processes[index].nodes) alarms_.cancel({Due::probe, node});
}

// Returns true if the run may lose something when the node dies while the program stops. A service only waits for the
// end once all results are there, unless a cut still waits for its part.
bool Coordinator::may_lose(NodeId id) const {
  if (nodes_[id].finished) return false;
  if (!complete_ || counts(id)) return true;
  return std::any_of(saved_.begin(), saved_.end(),
                     [&](const auto& cut) { return is_awaited(id, cut.first, cut.second); });
}

void Coordinator::on_exited(std::size_t index, std::uint32_t incarnation, const ExitStatus& status) {
  Process& process = processes_[index];
  if (process.incarnation != incarnation || !is_up(process)) return;
  listener_.on_ended(index, std::exchange(process.pid, 0));
  const auto& nodes = graph_.processes[index].nodes;
  const bool was_ready = std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) { return nodes_[node].ready; });
  const bool done = std::none_of(nodes.begin(), nodes.end(), [&](NodeId node) { return may_lose(node); });
  cancel_alarms(index);
  unready(index);
  --up_;
  const Process::State before = std::exchange(process.state, Process::State::down);
  if (status.abandoned && !abandoned_.has_value()) abandoned_ = cause_of(index, describe(status));
  if (culprit_ == index) {
    culprit_.reset();
    result_.cause.exit = status;
    listener_.add_origin(index, result_.cause);
  }
  if (phase_ == Phase::stopping) {
    process.state = Process::State::ended;
    if (before == Process::State::up && !status.success()) {
      Cause cause = cause_of(index, describe(status) + " while the program stopped");
      cause.exit = status;
      set_failed(index, cause.what);
      note(RunEvent::Kind::failed, cause.node, cause.incarnation, cause.what);
      listener_.add_origin(index, cause);
      if (done) {
        listener_.log(cause.node + ": " + cause.what + "; its work was already done");
      } else {
        fail(std::move(cause));
      }
    }
    return end_if_stopped();
  }
  if (before == Process::State::discarded) return restart_if_possible(index);
  if (before == Process::State::up && done && status.success()) {
    process.state = Process::State::ended;
    for (const NodeId node : nodes) {
      nodes_[node].text = "it has ended";
      set_gone(node, true);
    }
    return end_if_done();
  }
  const bool by_itself = status.text.empty();
  Cause cause =
      process.cause.value_or(cause_of(index, describe(status) + (by_itself && !was_ready ? " before it was ready"
                                                                 : status.success()      ? " in mid-run"
                                                                                         : "")));
  cause.exit = status;
  if (!process.cause.has_value()) note(RunEvent::Kind::failed, cause.node, cause.incarnation, cause.what);
  listener_.add_origin(index, cause);
  set_failed(index, cause.what);
  decide(index, cause);
}

void Coordinator::decide(std::size_t index, const Cause& cause) {
  const FailurePolicy policy = policy_of(index);
  switch (policy.action) {
    case FailurePolicy::Action::stop: return fail(cause);
    case FailurePolicy::Action::restart: return restart(index, policy, cause);
    case FailurePolicy::Action::ignore: return give_up(index, cause);
  }
}

void Coordinator::restart(std::size_t index, const FailurePolicy& policy, Cause cause) {
  Process& process = processes_[index];
  if (process.restarts >= policy.budget) {
    cause.what += "; its budget of " + std::to_string(policy.budget) + " restarts is used up";
    return graph_.processes[index].elastic ? give_up(index, cause) : fail(std::move(cause));
  }
  Duration wait = std::min(policy.backoff, kLongestBackoff);
  for (int i = 0; i < process.restarts; ++i) wait = std::min(wait * 2, kLongestBackoff);
  ++process.restarts;
  process.backoff = true;
  alarms_.set({Due::restart, index}, later(now_, wait));
  const std::string how = "restart " + std::to_string(process.restarts) + " of " + std::to_string(policy.budget) +
                          " in " + duration_text(wait) + origin_of(index);
  note(RunEvent::Kind::restarting, cause.node, process.incarnation, how);
  listener_.log(cause.node + ": " + cause.what + "; " + how);
  if (graph_.processes[index].member) discard_members(index);
}

// Describes the point from which the process starts again.
std::string Coordinator::origin_of(std::size_t index) const {
  if (!graph_.processes[index].member) return {};
  return cut_.path.empty() ? " from the beginning" : " from the checkpoint of step " + std::to_string(cut_.step);
}

// Returns the node of this name. Throws Error when there is none.
NodeId Coordinator::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const SupervisionGraph::Node& node : graph_.nodes) names.push_back(node.name);
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) {
    throw Error(ErrorKind::failed, "there is no node " + quote(name) + did_you_mean(name, names));
  }
  return static_cast<NodeId>(at - names.begin());
}

// Returns the processes of the node or the group of this name. Throws Error when there is none.
std::vector<std::size_t> Coordinator::find_processes(const std::string& name) const {
  std::vector<std::size_t> found;
  for (const SupervisionGraph::Node& node : graph_.nodes) {
    if (node.name != name && graph_.groups[node.group].name != name) continue;
    if (std::find(found.begin(), found.end(), node.process) == found.end()) found.push_back(node.process);
  }
  if (found.empty()) found.push_back(graph_.nodes[find(name)].process);
  return found;
}

std::string Coordinator::restart_node(const std::string& name, bool force) {
  const std::vector<std::size_t> named = find_processes(name);
  std::vector<std::string> problems;
  for (const std::size_t index : named) problems.push_back(why_no_restart(index, force));
  std::map<std::string, std::vector<std::string>> restarted;  // by the point from which they start
  std::map<std::string, std::vector<std::string>> refused;    // by the reason
  for (std::size_t i = 0; i < named.size(); ++i) {
    const std::string& process = graph_.processes[named[i]].name;
    std::string origin = processes_[named[i]].state == Process::State::absent ? std::string() : origin_of(named[i]);
    if (problems[i].empty()) problems[i] = restart_process(named[i], origin);
    if (problems[i].empty()) {
      restarted[origin].push_back(process);
    } else {
      refused[problems[i]].push_back(named.size() == 1 ? name : process);
    }
  }
  std::string text;
  for (const auto& [origin, names] : restarted) {
    text += (text.empty() ? "" : "; ") + list_text(names) + (names.size() == 1 ? " is restarted" : " are restarted") +
            origin;
  }
  for (const auto& [why, names] : refused) {
    text += (text.empty() ? "" : "; ") + list_text(names) + " cannot be restarted: " + why;
  }
  if (restarted.empty()) throw Error(ErrorKind::failed, text);
  return text;
}

// Returns why a request cannot restart the process now; empty: it may.
std::string Coordinator::why_no_restart(std::size_t index, bool force) const {
  if (phase_ >= Phase::stopping) return "the program is stopping";
  switch (processes_[index].state) {
    case Process::State::ended: return "it has ended, and the program continues without it";
    case Process::State::failing:
    case Process::State::discarded: return "it is already ending";
    case Process::State::up: return force ? std::string() : loss_of_restart(index);
    default: return {};
  }
}

// Returns what a restart of the process would throw away, for it and the members that go back with it; empty: nothing,
// or a cut has it.
std::string Coordinator::loss_of_restart(std::size_t index) const {
  if (!graph_.processes[index].member || !cut_.path.empty() || not_ready_ > 0) return {};
  std::vector<std::string> members;
  for (std::size_t other = 0; other < processes_.size(); ++other) {
    if (graph_.processes[other].member && processes_[other].state == Process::State::up) {
      members.push_back(graph_.processes[other].name);
    }
  }
  std::uint64_t steps = 0;
  for (const Node& node : nodes_) steps = std::max(steps, node.progress.step);
  if (speaker_.has_value() && steps == 0) return {};
  const std::string work = steps == 0 ? "their work" : "the work of " + std::to_string(steps) + " steps";
  return "there is no complete checkpoint, so that " + list_text(members) + " would start from the beginning, and " +
         work + " would be lost; --force restarts " + (members.size() == 1 ? "it" : "them") + " nevertheless";
}

// Returns why that is impossible; empty: it is done.
std::string Coordinator::restart_process(std::size_t index, const std::string& origin) {
  Process& process = processes_[index];
  if (process.state == Process::State::discarded) return {};  // together with another of its group
  if (process.state == Process::State::absent) {
    if (std::string shortage = place(index); !shortage.empty()) return shortage;
  }
  const std::string how = "it is restarted on request" + origin;
  note(RunEvent::Kind::restarting, graph_.processes[index].name, process.incarnation, how);
  listener_.log(graph_.processes[index].name + ": " + how);
  if (process.state == Process::State::absent) {
    come(index);
  } else if (process.state != Process::State::up) {  // it waits to be restarted
    alarms_.cancel({Due::restart, index});
    process.backoff = false;
    restart_if_possible(index);
    if (process.state == Process::State::absent) return nodes_[graph_.processes[index].nodes.front()].text;
  } else if (graph_.processes[index].member) {
    discard_members(index);
  } else {  // it may end in order
    unready(index);
    cancel_alarms(index);
    process.state = Process::State::discarded;
    executor_.stop(index, "it is restarted", false);
    alarms_.set({Due::kill, index}, later(now_, options_.grace));
  }
  return {};
}

// All members belong to one cut, so they go back to it together. The report's findings no longer count: it runs again
// when the work is done again. `first` is the process for which that happens.
void Coordinator::discard_members(std::size_t first) {
  if (report_ != Report::none) report_ = Report::stale;
  saved_.clear();
  lost_cuts_.clear();
  for (std::size_t other = 0; other < processes_.size(); ++other) {
    if (graph_.processes[other].member && processes_[other].state == Process::State::up) discard(other, first);
  }
  if (redo_finished(first) && phase_ == Phase::reporting && !end_asked_) set_phase(Phase::running);
}

// The restart of `with` is noted already.
void Coordinator::note_together(std::size_t index, std::size_t with) {
  if (index == with) return;
  note(RunEvent::Kind::restarting, graph_.processes[index].name, processes_[index].incarnation,
       "together with " + graph_.processes[with].name + origin_of(index));
}

// Discards the process's work. The process starts again when it has ended.
void Coordinator::discard(std::size_t index, std::size_t with) {
  note_together(index, with);
  unready(index);
  cancel_alarms(index);
  processes_[index].state = Process::State::discarded;
  kill_process(index);
}

// The members go back to a time before these nodes had finished their work with them, so these nodes do it again, as
// do nodes that finish later and had their last answer before. Returns true if there are any.
bool Coordinator::redo_finished(std::size_t first) {
  const auto worked_on_a_member = [&](NodeId id) {
    const auto& calls = graph_.nodes[id].calls;
    return nodes_[id].finished &&
           std::any_of(calls.begin(), calls.end(), [&](NodeId callee) { return graph_.nodes[callee].member; });
  };
  bool any = false;
  for (std::size_t index = 0; index < processes_.size(); ++index) {
    const auto& nodes = graph_.processes[index].nodes;
    if (graph_.processes[index].member || std::none_of(nodes.begin(), nodes.end(), worked_on_a_member)) continue;
    any = true;
    if (processes_[index].state == Process::State::up) {
      discard(index, first);
    } else if (processes_[index].state == Process::State::ended) {
      note_together(index, first);
      for (const NodeId id : nodes) set_gone(id, false);
      start_process(index);
    }
  }
  return any;
}

// Returns true if the callee has gone back to a cut since it gave this answer. The caller finished with what is gone.
bool Coordinator::has_gone_back(const NodeEvent::Answer& answer) const {
  if (answer.callee >= nodes_.size()) return false;
  const Node& callee = nodes_[answer.callee];
  const Process& process = processes_[graph_.nodes[answer.callee].process];
  if (!callee.member || callee.came) return false;
  return process.incarnation != answer.incarnation || process.state == Process::State::discarded ||
         process.state == Process::State::down;
}

bool Coordinator::members_go_back() const {
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    const Process::State state = processes_[process].state;
    if (graph_.processes[process].member && (state == Process::State::discarded || state == Process::State::down))
      return true;
  }
  return false;
}

void Coordinator::restart_if_possible(std::size_t index) {
  if (phase_ >= Phase::stopping) return;
  const auto ready_to_start = [&](std::size_t process) {
    return processes_[process].state != Process::State::down || !processes_[process].backoff;
  };
  if (!graph_.processes[index].member) {
    if (processes_[index].state == Process::State::down && ready_to_start(index)) start_where_there_is_room(index);
    return;
  }
  std::vector<std::size_t> members;
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    if (!graph_.processes[process].member || processes_[process].state == Process::State::ended ||
        processes_[process].state == Process::State::absent) {
      continue;
    }
    if (is_up(processes_[process]) || !ready_to_start(process)) return;
    members.push_back(process);
  }
  for (const std::size_t process : members) {
    // A process without a place is given up; then those that have a place start.
    if (processes_[process].state == Process::State::down) start_where_there_is_room(process);
  }
}

}  // namespace lp::launch
