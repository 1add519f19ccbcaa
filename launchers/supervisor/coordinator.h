#pragma once
// Decides what happens in a run: who starts, runs, is told of whom, is restarted, and when it is over. A state machine
// without threads, clocks or files: it hears events and the time, and gives commands to a Host. README.md tells the
// rules.
//
// Owned and used by the loop thread of a run.

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launchers/os/deadline_queue.h"
#include "launchers/record/records.h"
#include "launchers/record/status.h"
#include "launchers/supervisor/executor.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/program/runtime.h"

namespace lp::internal {

// Where members start from: the last complete cut of the program.
struct RestorePoint {
  std::uint64_t step = 0;
  std::filesystem::path path{};  // empty: there is none, and members start from nothing
  std::set<NodeId> members{};    // who is in it; others start from nothing
};

class Coordinator final : public HostEvents {
 public:
  struct Options {
    Duration heartbeat = std::chrono::seconds(30);  // a service that does not answer for so long has failed
    Duration grace = std::chrono::seconds(10);      // to end after a stop; then it is killed
    Duration start = std::chrono::minutes(5);       // to be constructed and loaded
    bool patient = false;                           // a person debugs: nothing counts as hanging
    bool report = false;                            // wait for report_done() when the work is done
    std::set<std::string> idle{};                   // groups whose run() is switched off
  };

  // What the coordinator needs done outside; called in the same thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void on_phase(Phase phase) = 0;
    virtual void begin_report() = 0;                              // the work is done; report_done() follows
    virtual void on_peers(std::span<const PeerState> peers) = 0;  // for clients outside the graph
    // All that are there have. Throws Error when it cannot be kept.
    virtual RestorePoint on_cut_saved(std::uint64_t step, const std::set<NodeId>& members) = 0;
    virtual void on_cut_given_up(std::uint64_t step) = 0;              // it will never be complete
    virtual void add_output(std::size_t unit, Cause& cause) = 0;       // what its process wrote last
    virtual void say(const std::string& line) = 0;                     // to people
    virtual void on_measured(std::size_t unit, Measurement part) = 0;  // the answer to measure()
    virtual void on_event(RunEvent event) = 0;                         // its time is not set
  };

  Coordinator(const Topology& topology, Options options, Host& host, Listener& listener);

  void start(RestorePoint cut, Time now);
  // Ends the run in order, because somebody outside wants that. The first reason counts. `by`: who, with the signal
  // that asked for it, or 0; empty: its own launcher, and then it may be a success.
  void stop(const std::string& reason, const std::string& by = {}, int signal = 0);
  // The same after the next cut; when there is none until then, without.
  void stop_after_cut(const std::string& reason, const std::string& by, int signal, Time until);
  // Ends it at once.
  void kill(const std::string& by = {});
  // Starts the node again, and what shares its process, because somebody outside wants that: its budget stays as it is.
  // A member of an elastic group that was given up comes back. Says what is done. Throws Error when there is no such
  // node, or none to restart.
  std::string restart_node(const std::string& name);
  // Asks the units that are up what they use; Listener::on_measured follows, if they are not busy ending. Gives them.
  std::vector<std::size_t> measure();
  // The report has been made, or has failed.
  void report_done(const std::optional<std::string>& failure);
  // Fails the run for a reason outside its nodes.
  void fail(Cause cause);

  // Nodes may be waiting for a terminal that takes no output: nothing counts as hanging meanwhile.
  void hold_heartbeats(bool hold) { lenient_ = hold; }

  // Tells the time, before events are given.
  void set_time(Time now) { now_ = now; }
  // Tells the time, after them, and does what is due.
  void advance(Time now);
  // Sends what has been gathered: to be called when all events that were there have been handled.
  void flush();
  Time next() const { return alarms_.next(); }

  Phase phase() const { return phase_; }
  RunStatus status() const;
  const RunResult& result() const { return result_; }
  // Of the first node that has said how far it is; empty: none has.
  Progress shown_progress() const { return speaker_.has_value() ? nodes_[*speaker_].progress : Progress(); }
  std::string speaker() const { return speaker_.has_value() ? topology_.nodes[*speaker_].name : std::string(); }

  void on_spawned(std::size_t unit, std::uint32_t incarnation, int pid) override;
  void on_ready(NodeId node, std::uint32_t incarnation, const std::string& endpoint) override;
  void on_finished(NodeId node, std::uint32_t incarnation) override;
  void on_failed(NodeId node, std::uint32_t incarnation, const Error& error) override;
  void on_stop_requested(NodeId node, std::uint32_t incarnation, const std::string& reason) override;
  void on_progress(NodeId node, std::uint32_t incarnation, const Progress& progress) override;
  void on_saved(NodeId node, std::uint32_t incarnation, std::uint64_t step) override;
  void on_not_saved(NodeId node, std::uint32_t incarnation, std::uint64_t step, const Error& error) override;
  void on_alive(NodeId node, std::uint32_t incarnation) override;
  void on_busy(NodeId node, std::uint32_t incarnation, const std::string& work, Duration age) override;
  void on_measured(std::size_t unit, std::uint32_t incarnation, Measurement part) override;
  void on_exited(std::size_t unit, std::uint32_t incarnation, const ExitStatus& status) override;
  void on_lost(const std::string& text) override;
  void on_room() override;
  void on_news(const std::string& text) override { listener_.say(text); }

 private:
  struct Node {
    bool ready = false;
    bool running = false;   // run() was begun
    bool finished = false;  // and has returned
    bool gone = false;      // the program goes on without it, until it is ready again
    bool asked = false;     // a probe is on its way
    std::string work{};     // what its turn is taken by, as long as the probe waits for that; empty: unknown
    Time work_begin{};
    std::string endpoint{};
    std::size_t awaited = 0;  // nodes that it calls and that are not ready
    Progress progress{};
    bool member = false;  // of the cuts, as long as the program does not go on without it
    bool came = false;    // when others had run without it: cuts before its first go without it, too
    std::optional<std::uint64_t> first_saved{};  // the first step, since it was started
    std::optional<std::uint64_t> saved{};        // the last one
    std::string text{};                          // of its last failure
  };
  struct Unit {
    // absent: of elastic groups, and the program goes on without it; it may come back.
    enum class State : std::uint8_t { waiting, up, failing, discarded, down, absent, ended };
    State state = State::waiting;
    std::uint32_t incarnation = 0;
    int restarts = 0;
    int pid = 0;
    std::string key{};             // public, of the incarnation that is there or comes next; empty: revoked, or none
    bool backoff = false;          // down: its restart is not due yet
    bool no_room = false;          // absent: it comes when there is a place for it
    std::optional<Cause> cause{};  // failing: why
  };
  // What an alarm is for: a node (probe) or a unit (the others).
  enum class Due : std::uint8_t { probe, start, kill, force, restart, grace, cut };
  struct Key {
    Due due;
    std::size_t index;
    auto operator<=>(const Key&) const = default;
  };

  bool current(NodeId node, std::uint32_t incarnation) const;
  static bool is_up(const Unit& unit);
  bool counts(NodeId node) const;  // its run() is waited for
  void fire(const Key& key, bool late);
  std::string why_late(std::size_t index) const;
  void set_phase(Phase phase);
  void note(RunEvent::Kind kind, const std::string& node, std::uint32_t incarnation, std::string text = {});

  void start_unit(std::size_t unit);
  void run_if_possible(NodeId node);
  void set_ready(NodeId node, bool ready);
  void set_finished(NodeId node, bool finished);
  void wait_for(NodeId node, bool wait);
  void tell_neighbours(NodeId node);
  PeerState peer_state(NodeId node) const;
  PeerState replaced_state(NodeId node) const;
  void probe(NodeId node, bool late);
  void cancel_alarms(std::size_t unit);

  // coordinator_members.cc
  void set_gone(NodeId node, bool gone);
  std::size_t members_there(std::size_t group, std::size_t but) const;
  std::string too_few(std::size_t unit) const;
  std::string place(std::size_t unit);
  void begin_units();
  void start_where_there_is_room(std::size_t unit);
  void give_up(std::size_t unit, const Cause& cause);

  // coordinator_recovery.cc
  void begin_failure(std::size_t unit, Cause cause, bool obeys);
  void unready(std::size_t unit);
  void add_to_cut(NodeId node, std::uint64_t step);
  void say_cuts_fail(const std::string& text);
  bool is_awaited(NodeId node, std::uint64_t step, const std::set<NodeId>& saved) const;
  void complete_cut();
  void give_up_cuts();
  void kill_unit(std::size_t unit);
  void decide(std::size_t unit, const Cause& cause);
  void restart(std::size_t unit, const FailurePolicy& policy, Cause cause);
  std::string origin_of(std::size_t unit) const;
  void discard(std::size_t unit);
  void discard_members();
  bool redo_finished();
  bool members_go_back() const;
  void come(std::size_t unit);
  void restart_if_possible(std::size_t unit);
  FailurePolicy policy_of(std::size_t unit) const;
  Cause cause_of(std::size_t unit, std::string what) const;

  // coordinator_end.cc
  void end_if_done();
  void finish(const std::string& reason);
  void begin_report();
  void begin_stop();
  void end_grace();
  void end_if_stopped();

  const Topology& topology_;
  const Options options_;
  Host& host_;
  Listener& listener_;
  Time now_{};
  Phase phase_ = Phase::starting;
  std::vector<Node> nodes_;
  std::vector<Unit> units_;
  std::vector<bool> was_ready_;
  std::size_t not_ready_;              // nodes that have never been ready
  std::size_t up_ = 0;                 // units whose process, or thread, is there
  std::vector<std::size_t> left_;      // by group: nodes whose run() is waited for
  std::vector<bool> waited_for_;       // by group: there was any such node
  std::vector<std::uint64_t> epochs_;  // by group: how often members have come or gone
  std::size_t all_left_ = 0;           // of all groups
  std::size_t succeeded_ = 0;          // nodes whose run() has returned
  Alarms<Key> alarms_;
  std::map<std::size_t, std::map<NodeId, PeerState>> news_;  // by unit, until flush()
  std::map<NodeId, PeerState> outside_news_;
  RestorePoint cut_;
  std::map<std::uint64_t, std::set<NodeId>> saved_;  // who has saved, by step
  bool gave_up_cuts_ = false;                        // and people were told
  std::set<std::uint64_t> lost_cuts_;                // steps that a member could not save
  bool cuts_fail_ = false;                           // and people were told; until one is complete
  std::vector<NodeId> to_run_;                       // until flush()
  RunResult result_;
  enum class Report : std::uint8_t { none, begun, stale };
  Report report_ = Report::none;  // stale: begun, and members have gone back since
  bool end_asked_ = false;        // a node has stopped the program
  bool failed_ = false;
  struct LastCut {
    std::string reason;
    std::string by;
    int signal;
  };
  std::optional<LastCut> last_cut_;     // the run stops after the next cut
  std::optional<std::size_t> culprit_;  // the unit of the cause, until it has ended
  std::optional<Cause> abandoned_;      // a thread that was left behind
  bool forced_ = false;                 // somebody wanted that
  std::optional<Cause> ignored_;        // the first failure that its policy ignores
  bool lenient_ = false;
  bool keyed_ = false;             // the units have keys
  std::optional<NodeId> speaker_;  // the node whose progress is shown
};

}  // namespace lp::internal
