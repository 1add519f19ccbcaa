#pragma once
// The implementation of a Run: its parts, and the thread that drives them.

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "launchers/admin/run_api.h"
#include "launchers/executor/process_executor.h"
#include "launchers/executor/thread_executor.h"
#include "launchers/os/event_loop.h"
#include "launchers/os/signals.h"
#include "launchers/os/terminal.h"
#include "launchers/plan/launcher_choice.h"
#include "launchers/record/node_output.h"
#include "launchers/record/run_recorder.h"
#include "launchers/remote/agent_acceptor.h"
#include "launchers/run.h"
#include "launchers/slurm/agents.h"
#include "launchers/start_agents.h"
#include "launchers/supervisor/coordinator.h"
#include "launchers/supervisor/stall.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/descriptor.h"
#include "lp/program/plan.h"

namespace lp {

struct Run::State final : internal::Coordinator::Listener {
 public:
  State(Run& owner, Program given_program, LaunchOptions given);
  ~State() override;
  void start();

  // Any thread may call it.
  bool wait_ended(Time until);
  bool wait_ready(Time until);
  void post(Function<void(internal::Coordinator&)> task);
  RunStatus status();
  void keep_report(std::string json);
  Runtime& runtime() { return *runtime_; }
  std::vector<std::string> units() const;

  const std::shared_ptr<const Program> built;  // shared with abandoned threads
  const Program& program;
  const LaunchOptions options;
  const internal::LauncherChoice launchers_;
  const Plan plan;
  std::string name;
  RunResult result;  // set once the run has ended

 private:
  void on_phase(Phase phase) override;
  void on_peers(std::span<const PeerState> peers) override;
  internal::RestorePoint on_cut_saved(std::uint64_t step, const std::set<NodeId>& members) override;
  void on_cut_given_up(std::uint64_t step) override;
  void add_output(std::size_t unit, Cause& cause) override;
  void say(const std::string& line) override;
  void on_measured(std::size_t unit, internal::Measurement part) override;
  void on_event(RunEvent event) override { recorder_.event(std::move(event)); }

  void take_directory();
  void make_host();
  void open_to_others();
  internal::Agents await_agents();
  void serve();
  void end();
  void watch_interrupts();
  void watch_job();
  void watch_output();
  void watch_movement();
  void show_progress();
  void write_status(bool always);
  void begin_report() override;
  void end_report();
  RunStatus current_status() const;
  bool wait_for(bool& flag, Time until);
  void raise(bool& flag);

  Run& owner_;
  const std::string mark_;  // marks the run's processes
  const internal::SupervisionGraph graph_;
  Descriptor taken_;  // the lock of the run's directory
  internal::RestorePoint begin_;
  internal::RunRecorder recorder_;
  internal::EventLoop loop_;
  std::unique_ptr<internal::SignalPoller> signals_;
  std::unique_ptr<internal::Terminal> terminal_;
  std::unique_ptr<internal::NodeOutput> output_;
  std::unique_ptr<Runtime::Observer> observer_;  // for the runtime of outside clients, which has no nodes
  std::unique_ptr<internal::ThreadExecutor> threads_;
  std::unique_ptr<internal::AgentAcceptor> acceptor_;  // for pods
  std::unique_ptr<internal::SlurmAgents> step_;        // for a job
  std::unique_ptr<internal::ProcessExecutor> processes_;
  std::vector<std::string> last_hosts_;  // by unit, for the time after `processes_` has gone
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<internal::Coordinator> coordinator_;
  std::unique_ptr<internal::RunApi> admin_;  // null: the run cannot be reached from outside
  std::vector<std::uint64_t> cuts_;          // the complete cuts that are kept
  Thread report_;
  bool changed_ = true;  // the status has changed since it was written
  Time next_status_{};
  Time next_look_ = kNever;  // when to check whether the job has begun again without us
  internal::Stall stall_{options.heartbeat};
  Time next_stall_look_{};
  int interrupted_ = 0;  // the number of interrupts

  std::mutex mutex_;  // guards the members below
  bool ended_ = false;
  bool ready_ = false;
  std::vector<Event*> waiting_;
  RunStatus last_status_;
  std::string report_text_;  // JSON

  Thread thread_;  // last, because it uses all members above
};

}  // namespace lp
