#pragma once
// Runs nodes as processes below the agents of their hosts, and knows which agent has which process.
//
// The loop thread of a run owns and uses it. Any thread may call the constructor.

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "launchers/agent/agent_link.h"
#include "launchers/control/node_start.h"
#include "launchers/os/event_loop.h"
#include "launchers/plan/placer.h"
#include "launchers/record/node_output.h"
#include "launchers/remote/host_reconnector.h"
#include "launchers/supervisor/executor.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/descriptor.h"
#include "lp/program/node_event.h"
#include "lp/rpc/core/curve_keys.h"

namespace lp::control {
struct Hello;
struct Message;
struct Piece;
}  // namespace lp::control

namespace lp::launch {

class ProcessExecutor final : public Executor {
 public:
  // Each process receives `start`, completed by what only it gets. `mark` marks the run's processes. Takes an agent for
  // each host of `places`, and the object that redials lost hosts; null: lost hosts are not dialed. Throws Error when
  // descriptors would run out.
  ProcessExecutor(const SupervisionGraph& graph, NodeStart start, std::string mark, Placer placer,
                  std::vector<std::unique_ptr<AgentLink>> agents, std::unique_ptr<HostReconnector> redial,
                  EventLoop& loop, NodeOutput& output);
  // Ends the agents and everything that runs below them.
  ~ProcessExecutor() override;

  void attach(ExecutorEvents& events);
  // Connects the agent of a host, which has dialed. The processes that wait for it start.
  void connect(std::size_t host, Descriptor stream);
  // Returns the host of the process, or its last one; empty: this host, or none.
  std::string host_of(std::size_t process) const;
  // Returns when advance() is due.
  Time next() const;
  void advance(Time now);
  // Sets whether the nodes' output is read. While it is not, nodes that print wait.
  void take_output(bool take);

  std::string make_key(std::size_t process) override;
  std::string place(std::size_t process, bool needed) override;
  void release(std::size_t process) override { placer_.release(process); }
  std::string delay(std::size_t process) override;
  void start(std::size_t process, std::uint32_t incarnation, const std::filesystem::path& cut) override;
  void update(std::size_t process, std::span<const PeerState> peers) override;
  void order(NodeId node, NodeOrder what) override;
  void end_cut(std::size_t process, std::uint64_t step, bool complete) override;
  void stop(std::size_t process, const std::string& reason, bool run_ends) override;
  void kill(std::size_t process) override;
  void measure(std::span<const std::size_t> processes, Inquiry what) override;
  void record_spans(std::span<const std::size_t> processes, const SpanOrder& order) override;
  void abandon(const std::string& why) override;

 private:
  enum class Stop : std::uint8_t { no, asked, heard, may_leave };
  struct Process {
    std::uint32_t incarnation = 0;
    bool up = false;  // its agent was asked to start it, and has not reported its end
    Stop stop = Stop::no;
    // For a process that waits for its agent, or for a host that it may have: the cut from which it loads, and the
    // messages that it will get.
    std::optional<std::filesystem::path> cut{};
    std::vector<std::vector<std::uint8_t>> held{};
  };

  template <class Body>
  void send(std::size_t process, Body body);
  void attach(std::size_t host);
  void send_flow(std::size_t host);
  void on_hello(std::size_t host, const control::Hello& hello);
  void take_back(std::size_t host, RemoteAgent agent);
  bool may_wait(std::size_t process) const;
  void start_waiting(std::size_t process);
  void start_there(std::size_t process, const std::filesystem::path& cut);
  bool give_up_waiting(std::size_t process, const std::string& text);
  void handle(std::size_t host, std::span<const std::uint8_t> bytes);
  void take_waits(const control::Message& message);
  void handle_node(const control::Message& message);
  void handle_event(const NodeEvent& event);
  std::string send_cut(std::size_t process, const std::filesystem::path& cut);
  void keep(const control::Message& message, const control::Piece& piece);
  void let_leave();
  void lose(std::size_t host, const std::string& why);
  // Reports that `process` has ended or could not be started; on_exited follows.
  void end(std::size_t process, const std::string& text);

  const SupervisionGraph& graph_;
  const NodeStart start_;
  std::optional<SpanOrder> spans_;  // for processes that start; none: nobody records spans
  const std::string mark_;
  Placer placer_;
  std::vector<std::unique_ptr<AgentLink>> agents_;  // by host
  std::set<std::size_t> there_;                     // hosts whose agents have dialed and reported their resources
  const std::unique_ptr<HostReconnector> reconnector_;
  EventLoop& loop_;
  NodeOutput& output_;
  ExecutorEvents* events_ = nullptr;
  std::vector<Process> processes_;
  std::vector<CurveKeys> keys_;  // by process, for processes that have not started yet
  // files from other hosts, by node and step, until the nodes' event Saved
  std::set<std::pair<NodeId, std::uint64_t>> kept_;
  bool takes_output_ = true;
};

}  // namespace lp::launch
