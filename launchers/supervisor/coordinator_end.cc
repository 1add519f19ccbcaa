// How a run ends: when its work is done, when it has failed, or when somebody asks for it.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "launchers/supervisor/coordinator.h"
#include "lp/base/text.h"

namespace lp::launch {

void Coordinator::handle(NodeId node, const NodeEvent::StopRequested& request) {
  end_asked_ = true;
  finish(graph_.nodes[node].name + " stopped the program: " + request.reason);
}

void Coordinator::end_if_done() {
  if (phase_ > Phase::running) return;
  const auto end = [this](const std::string& reason) {
    // No node is left that could have done the work.
    if (ignored_.has_value() && succeeded_ == 0) return fail(*ignored_);
    finish(reason);
  };
  bool any_ends = false;
  for (std::size_t group = 0; group < graph_.groups.size(); ++group) {
    if (!graph_.groups[group].ends_program) continue;
    any_ends = true;
    if (waited_for_[group] && left_[group] == 0)
      return end("every node of " + graph_.groups[group].name + " has finished");
  }
  const bool any = std::find(waited_for_.begin(), waited_for_.end(), true) != waited_for_.end();
  if (!any_ends && any && all_left_ == 0) end("every node has finished");
}

// The work is done. First the report runs, then the services stop.
void Coordinator::finish(const std::string& reason) {
  if (phase_ > Phase::running) return;
  result_.reason = reason;
  if (!options_.report) return end_complete();
  set_phase(Phase::reporting);
  begin_report();
}

void Coordinator::begin_report() {
  if (report_ != Report::none) return;  // a stale report ends first
  report_ = Report::begun;
  listener_.begin_report();
}

void Coordinator::report_done(const std::optional<std::string>& failure) {
  if (std::exchange(report_, Report::none) == Report::stale) {
    if (phase_ == Phase::reporting) begin_report();
    return;
  }
  if (failure.has_value()) fail({.node = "report", .what = *failure});
  if (phase_ == Phase::reporting) end_complete();
}

void Coordinator::end_complete() {
  complete_ = true;
  begin_stop();
}

void Coordinator::stop(const std::string& reason, const std::string& by, int signal) {
  if (phase_ >= Phase::stopping) return;
  result_.reason = reason;
  result_.stopped_by = by;
  result_.signal = signal;
  begin_stop();
}

void Coordinator::stop_after_cut(const std::string& reason, const std::string& by, int signal, Time until) {
  if (phase_ >= Phase::stopping || last_cut_.has_value()) return;
  last_cut_ = {reason, by, signal};
  alarms_.set({Due::cut, 0}, until);
  listener_.log(reason + ": it stops after its next checkpoint");
}

void Coordinator::kill(const std::string& by) {
  if (phase_ == Phase::ended) return;
  if (!std::exchange(forced_, true) && !by.empty()) {
    result_.stopped_by = by;
    result_.reason += "; its nodes were killed";
  }
  if (phase_ != Phase::stopping) begin_stop();
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    if (!is_up(processes_[process])) continue;
    if (processes_[process].state == Process::State::up) processes_[process].state = Process::State::discarded;
    kill_process(process);
  }
}

void Coordinator::fail(Cause cause) {
  if (failed_ || phase_ == Phase::ended) return;
  failed_ = true;
  if (phase_ != Phase::stopping) result_.reason = cause.node.empty() ? cause.what : cause.node + " failed";
  result_.cause = std::move(cause);
  if (phase_ != Phase::stopping) begin_stop();
}

void Coordinator::begin_stop() {
  set_phase(Phase::stopping);
  to_run_.clear();
  for (std::size_t index = 0; index < processes_.size(); ++index) {
    Process& process = processes_[index];
    if (process.state == Process::State::up) {
      cancel_alarms(index);
      executor_.stop(index, result_.reason, true);
    } else if (!is_up(process)) {
      alarms_.cancel({Due::restart, index});
      if (process.state != Process::State::absent) process.state = Process::State::ended;
    }
  }
  alarms_.set({Due::grace, 0}, later(now_, options_.grace));
  end_if_stopped();
}

void Coordinator::end_grace() {
  for (std::size_t index = 0; index < processes_.size(); ++index) {
    if (processes_[index].state != Process::State::up) continue;
    if (options_.grace > Duration{}) {  // without it, no node is expected to end by itself
      Cause cause = cause_of(index, "did not end within the grace period of " + duration_text(options_.grace) +
                                        " after the stop, and was killed");
      culprit_ = failed_ ? culprit_ : std::optional(index);
      set_failed(index, cause.what);
      fail(std::move(cause));
    }
    processes_[index].state = Process::State::discarded;
    kill_process(index);
  }
}

void Coordinator::end_if_stopped() {
  if (phase_ != Phase::stopping || up_ > 0) return;
  alarms_ = {};
  if (abandoned_.has_value() && !forced_) fail(*abandoned_);
  result_.success = !failed_ && result_.stopped_by.empty();
  set_phase(Phase::ended);
}

void Coordinator::on_lost(const std::string& text) {
  if (phase_ == Phase::ended) return;
  // also when all wait to be restarted, which no longer happens
  const bool has_work = phase_ < Phase::stopping || up_ > 0;
  for (std::size_t index = 0; index < processes_.size(); ++index) {
    if (!is_up(processes_[index])) continue;
    listener_.on_ended(index, std::exchange(processes_[index].pid, 0));
    cancel_alarms(index);
    unready(index);
    processes_[index].state = Process::State::ended;
  }
  up_ = 0;
  if (has_work) fail({.node = "agent", .what = text});
  end_if_stopped();
}

}  // namespace lp::launch
