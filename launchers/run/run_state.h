#pragma once
// A run: its nodes, coordinator, recorder and admin server, and the one loop that drives them.
//
// A Run owns it. Any thread may call its public functions.

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "launchers/admin/run_api.h"
#include "launchers/executor/run_nodes.h"
#include "launchers/metrics/metrics_server.h"
#include "launchers/observation/usage_watch.h"
#include "launchers/os/event_loop.h"
#include "launchers/os/signals.h"
#include "launchers/os/terminal.h"
#include "launchers/plan/launch.h"
#include "launchers/record/run_recorder.h"
#include "launchers/record/saved_curves.h"
#include "launchers/run/cut_keeper.h"
#include "launchers/run/report_thread.h"
#include "launchers/run/status_writer.h"
#include "launchers/run/waiters.h"
#include "launchers/supervisor/coordinator.h"
#include "launchers/supervisor/stall.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/descriptor.h"

namespace lp::launch {

class RunState final : public Coordinator::Listener {
 public:
  // Starts the agents. `report` is called when the work is done; empty: there is no report.
  RunState(Launch given, std::function<void()> report);
  ~RunState() override;
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;
  // Starts the program. Called once.
  void start();

  const Launch& launch() const { return launch_; }
  const std::string& metrics_url() const { return metrics_url_; }  // empty: there are none
  bool wait_ended(Time until);
  bool wait_ready(Time until);
  // Runs the task in the loop.
  void post(Function<void(Coordinator&)> task);
  RunStatus status();
  NodeCurves curves(const std::string& node);          // as Run::curves
  const RunResult& result() const { return result_; }  // set once the run has ended
  void keep_report(std::string json);
  Runtime& runtime() { return nodes_->runtime(); }
  std::vector<std::string> processes() const;

 private:
  void on_phase(Phase phase) override;
  void on_peers(std::span<const PeerState> peers) override { nodes_->update(peers); }
  RestorePoint on_cut_saved(std::uint64_t step, const std::set<NodeId>& members) override;
  void on_cut_given_up(std::uint64_t step) override;
  void on_cut_failed(const std::string& text) override;
  void add_origin(std::size_t process, Cause& cause) override;
  void log(const std::string& line) override;
  void on_measured(std::size_t process, Measurement part) override;
  void on_ended(std::size_t process, int pid) override {
    if (admin_ != nullptr) admin_->on_ended(process, pid);
  }
  void on_event(RunEvent event) override { recorder_.event(std::move(event)); }
  void on_progress(NodeId node, const Progress& progress) override {
    recorder_.progress(graph_.nodes[node].name, progress);
  }
  void begin_report() override;

  RunParts parts();
  Coordinator::Options coordinator_options() const;
  void prepare();
  void take_directory();
  void begin_record();
  void continue_earlier();
  void open_to_others();
  void serve();
  void advance();
  void end_on_failure();
  Time next() const;
  void end();
  void remove_files_of_nodes();
  void save_curves();
  bool is_directory_lost();
  void record_end();
  void fail_if_lost();
  void watch_signals();
  void watch_job();
  void watch_output();
  void watch_movement();
  bool is_watched() const;
  void watch_usage();
  void save_usage();
  void show_progress();
  void write_status(bool always);
  RunStatus current_status() const;

  const Launch launch_;
  const std::function<void()> run_report_;
  const std::string mark_;  // marks the run's processes
  const SupervisionGraph graph_;
  Descriptor taken_;             // the lock of the run's directory
  Descriptor earlier_;           // that of the run from which this one goes on, until there is a cut of its own
  bool directory_lost_ = false;  // and this was reported
  CutKeeper cuts_;
  RestorePoint begin_;
  RunRecorder recorder_;
  EventLoop loop_;
  std::unique_ptr<SignalPoller> signals_;
  std::unique_ptr<Terminal> terminal_;
  std::unique_ptr<RunNodes> nodes_;
  std::unique_ptr<Coordinator> coordinator_;
  std::unique_ptr<RunApi> admin_;           // null: the run cannot be reached from outside
  std::unique_ptr<MetricsServer> metrics_;  // null: nobody asked for metrics, or the run has ended
  std::string metrics_url_;
  ReportThread report_;
  StatusWriter status_writer_;
  std::unique_ptr<UsageWatch> usage_;  // null: the run has no directory
  Time next_usage_save_{};
  Time next_job_check_ = kNever;  // when to check whether the job has begun again without us
  Stall stall_;
  Time next_stall_check_{};
  bool broken_ = false;         // the launcher could not go on once
  int interrupted_ = 0;         // the number of interrupts
  std::set<std::string> lost_;  // the parts of the run's directory that could not be written
  RunResult result_;

  Waiters waiters_;  // has the lock of the members below
  bool ended_ = false;
  bool ready_ = false;
  RunStatus last_status_;
  std::string report_text_;  // JSON

  Thread thread_;  // last, because it uses all members above
};

}  // namespace lp::launch
