#pragma once
// Decides what happens in a run: which nodes start, run and restart, which updates each of them gets, and when the run
// is over. A state machine without threads, clocks or files: it receives events and the time, and gives commands to an
// Executor. README.md has the rules.
//
// The loop thread of a run owns and uses it.

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "launchers/os/deadline_queue.h"
#include "launchers/record/records.h"
#include "launchers/record/status.h"
#include "launchers/supervisor/executor.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/program/node_event.h"
#include "lp/program/peer_state.h"

namespace lp::launch {

// The state from which members start: the last complete cut of the program.
struct RestorePoint {
  std::uint64_t step = 0;
  std::filesystem::path path{};  // empty: there is none, and members start from nothing
  std::set<NodeId> members{};    // the members in the cut; others start from nothing
};

class Coordinator final : public ExecutorEvents {
 public:
  struct Options {
    Duration heartbeat = std::chrono::seconds(30);  // a service that does not answer for so long has failed
    Duration grace = std::chrono::seconds(10);      // the time to end after a stop; then the process is killed
    Duration start = std::chrono::minutes(5);       // the time to be constructed and loaded
    bool no_deadlines = false;                      // a person debugs: nothing counts as hanging
    bool report = false;                            // wait for report_done() when the work is done
    std::set<std::string> idle{};                   // groups whose run() is not called
  };

  // Receives the requests and reports of the coordinator, in the same thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_phase(Phase phase) = 0;
    virtual void begin_report() = 0;                              // the work is done; report_done() follows
    virtual void on_peers(std::span<const PeerState> peers) = 0;  // for clients outside the graph
    // All present members have saved this step. Throws Error when the cut cannot be kept.
    virtual RestorePoint on_cut_saved(std::uint64_t step, const std::set<NodeId>& members) = 0;
    virtual void on_cut_given_up(std::uint64_t step) = 0;            // it will never be complete
    virtual void on_cut_failed(const std::string& text) = 0;         // the first one since a cut was saved
    virtual void add_origin(std::size_t process, Cause& cause) = 0;  // adds the host and the last output of its process
    virtual void log(const std::string& line) = 0;                   // shows the line to people
    virtual void on_measured(std::size_t process, Measurement part) = 0;  // the answer to measure()
    // Its process has ended; 0: it was none of its own.
    virtual void on_ended(std::size_t process, int pid) = 0;
    virtual void on_event(RunEvent event) = 0;  // its time is not set
    virtual void on_progress(NodeId node, const Progress& progress) = 0;
  };

  Coordinator(const SupervisionGraph& graph, Options options, Executor& executor, Listener& listener);

  void start(RestorePoint cut, Time now);
  // Ends the run in order at the request of somebody outside. The first reason counts. `by` names that person, or the
  // signal that asked for it, and `signal` is its number or 0. An empty `by` means the run's own launcher; then the run
  // may be a success.
  void stop(const std::string& reason, const std::string& by = {}, int signal = 0);
  // Ends it likewise after the next cut, or without one at `until`.
  void stop_after_cut(const std::string& reason, const std::string& by, int signal, Time until);
  // Ends it at once.
  void kill(const std::string& by = {});
  // Restarts the node, or the nodes of the group, and the other nodes of their processes, at the request of somebody
  // outside. Their budget stays as it is. An elastic group's member that was given up comes back. Nodes that would
  // lose their work because there is no cut are restarted only by force. Returns a description of what happens, which
  // names the members that cannot be restarted. Throws Error when there is no such node or group, or nothing to
  // restart.
  std::string restart_node(const std::string& name, bool force = false);
  // Asks the processes that are up, or that of one node, and returns those processes. Listener::on_measured follows,
  // unless a process is busy ending. Throws Error when there is no such node, or its process is not up.
  std::vector<std::size_t> measure(Inquiry what);
  std::size_t measure(Inquiry what, const std::string& node);
  // Gives the order to the processes that are up, and returns them. Listener::on_measured follows as above.
  std::vector<std::size_t> record_spans(const SpanOrder& order);
  // The report is complete, or has failed.
  void report_done(const std::optional<std::string>& failure);
  // Fails the run for a reason outside its nodes.
  void fail(Cause cause);

  // Nothing counts as hanging while nodes may wait for a terminal that takes no output.
  void hold_heartbeats(bool hold) { lenient_ = hold; }

  // Sets the time; call it before the events.
  void set_time(Time now) { now_ = now; }
  // Sets the time after the events, and does the work that is due.
  void advance(Time now);
  // Sends the batched updates. Call after handling all pending events.
  void flush();
  Time next() const { return alarms_.next(); }

  Phase phase() const { return phase_; }
  RunStatus status() const;
  const RunResult& result() const { return result_; }
  bool is_complete() const { return complete_; }  // the work is done and reported: no other run can go on with it
  // The progress of the first node that has reported any; empty: none has.
  Progress shown_progress() const { return speaker_.has_value() ? nodes_[*speaker_].progress : Progress(); }
  std::string speaker() const { return speaker_.has_value() ? graph_.nodes[*speaker_].name : std::string(); }

  void on_spawned(std::size_t process, std::uint32_t incarnation, int pid) override;
  void on_event(const NodeEvent& event) override;
  void on_measured(std::size_t process, std::uint32_t incarnation, Measurement part) override;
  void on_exited(std::size_t process, std::uint32_t incarnation, const ExitStatus& status) override;
  void on_lost(const std::string& text) override;
  void on_room() override;
  void on_news(const std::string& text) override { listener_.log(text); }

 private:
  struct Node {
    bool ready = false;
    bool running = false;    // run() was begun
    bool finished = false;   // run() has returned
    bool cut_short = false;  // run() has returned because the run was stopped or failed
    bool gone = false;       // the program continues without it until it is ready again
    bool asked = false;      // a probe is on its way
    std::string work{};      // the work that has its turn while the probe waits for it; empty: unknown
    Time work_begin{};
    std::string endpoint{};
    std::size_t awaited = 0;  // the number of nodes that it calls and that are not ready
    Progress progress{};
    bool member = false;  // takes part in cuts, unless the program continues without it
    bool came = false;    // it came when others had run without it, so cuts before its first one exclude it
    std::optional<std::uint64_t> first_saved{};  // the first step since its start
    std::optional<std::uint64_t> saved{};        // the last step
    std::string text{};                          // the text of its last failure
  };
  struct Process {
    // absent: a process of elastic groups without which the program continues; it may come back.
    enum class State : std::uint8_t { waiting, up, failing, discarded, down, absent, ended };
    State state = State::waiting;
    std::uint32_t incarnation = 0;
    int restarts = 0;
    int pid = 0;
    std::string key{};             // the public key of the present or next incarnation; empty: revoked, or none
    bool backoff = false;          // down: its restart is not due yet
    bool no_room = false;          // absent: it comes when there is a place for it
    bool failed = false;           // its last incarnation has failed
    std::optional<Cause> cause{};  // failing: the reason
  };
  // The purpose of an alarm. A probe is for a node, the others are for a process.
  enum class Due : std::uint8_t { probe, start, slow, kill, force, restart, grace, cut };
  struct Key {
    Due due;
    std::size_t index;
    auto operator<=>(const Key&) const = default;
  };

  // Handle an event of a node's present incarnation.
  void handle(NodeId node, const NodeEvent::Ready& ready);
  void handle(NodeId node, const NodeEvent::Finished& finished);
  void handle(NodeId node, const NodeEvent::Failed& failed);
  void handle(NodeId node, const NodeEvent::StopRequested& request);
  void handle(NodeId node, const Progress& progress);
  void handle(NodeId node, const NodeEvent::Saved& saved);
  void handle(NodeId node, const NodeEvent::NotSaved& not_saved);
  void handle(NodeId node, const NodeEvent::Alive&);
  void handle(NodeId node, const NodeEvent::Busy& busy);
  static bool is_up(const Process& process);
  bool counts(NodeId node) const;  // the run waits for its run()
  void fire(const Key& key, bool late);
  void log_slow_start(std::size_t process);
  std::string why_late(std::size_t index) const;
  NodeId find(const std::string& node) const;
  std::vector<std::size_t> find_processes(const std::string& node_or_group) const;
  void set_phase(Phase phase);
  void note(RunEvent::Kind kind, const std::string& node, std::uint32_t incarnation, std::string text = {});

  std::vector<std::size_t> processes_up() const;
  void start_process(std::size_t process);
  void run_if_possible(NodeId node);
  void set_ready(NodeId node, bool ready);
  void set_finished(NodeId node, bool finished);
  NodeStatus::State state_of(NodeId node) const;
  void wait_for(NodeId node, bool wait);
  void update_neighbours(NodeId node);
  PeerState peer_state(NodeId node) const;
  PeerState replaced_state(NodeId node) const;
  void probe(NodeId node, bool late);
  void cancel_alarms(std::size_t process);

  // coordinator_members.cc
  void set_gone(NodeId node, bool gone);
  std::size_t members_there(std::size_t group, std::size_t but) const;
  std::string too_few(std::size_t process) const;
  std::string place(std::size_t process);
  void begin_processes();
  void start_where_there_is_room(std::size_t process);
  void give_up(std::size_t process, const Cause& cause);

  // coordinator_restart.cc
  enum class Failure : std::uint8_t { hang, error, for_good };
  void begin_failure(std::size_t process, Cause cause, Failure failure);
  void unready(std::size_t process);
  void add_to_cut(NodeId node, std::uint64_t step);
  void log_failed_cut(const std::string& text);
  bool is_awaited(NodeId node, std::uint64_t step, const std::set<NodeId>& saved) const;
  void complete_cut();
  void give_up_cuts();
  void give_up_cut(std::uint64_t step);
  void end_cut(std::uint64_t step, bool complete);
  bool may_lose(NodeId node) const;
  void set_failed(std::size_t process, const std::string& what);
  void kill_process(std::size_t process);
  void decide(std::size_t process, const Cause& cause);
  void restart(std::size_t process, const FailurePolicy& policy, Cause cause);
  std::string why_no_restart(std::size_t process, bool force) const;
  std::string loss_of_restart(std::size_t process) const;
  std::string restart_process(std::size_t process, const std::string& origin);
  std::string origin_of(std::size_t process) const;
  void note_together(std::size_t process, std::size_t with);
  void discard(std::size_t process, std::size_t with);
  void discard_members(std::size_t first);
  bool redo_finished(std::size_t first);
  bool has_gone_back(const NodeEvent::Answer& answer) const;
  bool members_go_back() const;
  void come(std::size_t process);
  void restart_if_possible(std::size_t process);
  FailurePolicy policy_of(std::size_t process) const;
  Cause cause_of(std::size_t process, std::string what) const;

  // coordinator_end.cc
  void end_if_done();
  void finish(const std::string& reason);
  void begin_report();
  void end_complete();
  void begin_stop();
  void end_grace();
  void end_if_stopped();

  const SupervisionGraph& graph_;
  const Options options_;
  Executor& executor_;
  Listener& listener_;
  Time now_{};
  Phase phase_ = Phase::starting;
  std::vector<Node> nodes_;
  std::vector<Process> processes_;
  std::vector<bool> was_ready_;
  std::size_t not_ready_;              // nodes that have never been ready
  std::size_t up_ = 0;                 // processes that run
  std::vector<std::size_t> left_;      // by group: nodes whose run() must still return
  std::vector<bool> waited_for_;       // by group: there was any such node
  std::vector<std::uint64_t> epochs_;  // by group: the number of times that members have come or gone
  std::size_t all_left_ = 0;           // the sum over all groups
  std::size_t succeeded_ = 0;          // nodes whose run() has returned
  DeadlineQueue<Key> alarms_;
  std::map<std::size_t, std::map<NodeId, PeerState>> news_;  // by process, until flush()
  std::map<NodeId, PeerState> outside_news_;
  RestorePoint cut_;
  std::map<std::uint64_t, std::set<NodeId>> saved_;  // the nodes that have saved, by step
  bool gave_up_cuts_ = false;                        // and this was reported
  std::set<std::uint64_t> lost_cuts_;                // steps that a member could not save
  std::string cut_failure_{};                        // the first one since a cut was complete
  std::vector<NodeId> to_run_;                       // until flush()
  RunResult result_;
  enum class Report : std::uint8_t { none, begun, stale };
  Report report_ = Report::none;  // stale: begun, and members have gone back to a cut since
  bool end_asked_ = false;        // a node has stopped the program
  bool complete_ = false;         // the work is done and reported
  bool failed_ = false;
  struct LastCut {
    std::string reason;
    std::string by;
    int signal;
  };
  std::optional<LastCut> last_cut_;     // the run stops after the next cut
  std::optional<std::size_t> culprit_;  // the process of the cause, until it has ended
  std::optional<Cause> abandoned_;      // an abandoned thread
  bool forced_ = false;                 // somebody asked for an end by force
  std::optional<Cause> ignored_;        // the first failure that its policy ignores
  bool lenient_ = false;
  bool keyed_ = false;             // the processes have keys
  std::optional<NodeId> speaker_;  // the node whose progress is shown: the first that has a total, or else the first
};

}  // namespace lp::launch
