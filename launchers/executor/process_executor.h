#pragma once
// Nodes as processes, below the agents of their hosts: which of them each is told to have.
//
// Owned and used by the loop thread of a run, except for the constructor, which any thread may call.

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launchers/agent/agent_link.h"
#include "launchers/os/event_loop.h"
#include "launchers/plan/placement.h"
#include "launchers/record/node_output.h"
#include "launchers/remote/host_reconnector.h"
#include "launchers/supervisor/executor.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/base/descriptor.h"
#include "lp/rpc/core/curve.h"
#include "lp/rpc/core/path.h"

namespace lp::control {
struct Hello;
struct Message;
struct Piece;
}  // namespace lp::control

namespace lp::internal {

// What every process of a run is told.
struct NodeStart {
  std::uint64_t fingerprint = 0;
  std::string entry{};
  std::string configuration{};
  std::uint64_t seed = 0;
  std::string run{};
  std::string mark{};  // of its processes
  std::string directory{};
  std::string token{};
  bool patient = false;
  bool serialize = false;
  Duration deadline{};
  int keep_cuts = 0;
  Path path = Path::nearest;
  std::size_t shared_memory = 0;
  std::string outside_key{};  // public key of the launcher, which calls nodes too; empty: the run has no keys
};

class ProcessHost final : public Host {
 public:
  // An agent for each host of `places`, and who dials those that are lost; null: nobody does. Throws Error when
  // descriptors would run out.
  ProcessHost(const Topology& topology, NodeStart start, Places places, std::vector<std::unique_ptr<AgentLink>> agents,
              std::unique_ptr<Redial> redial, Loop& loop, Output& output);
  // Ends the agents, and with them everything that is left.
  ~ProcessHost() override;

  void attach(HostEvents& events);
  // The agent of a host has dialed; the units that wait for it start.
  void connect(std::size_t host, Descriptor stream);
  // Where the unit is, or was last; empty: on this host, or nowhere.
  std::string host_of(std::size_t unit) const;
  // When advance() has something to do.
  Time next() const;
  void advance(Time now);
  // Whether the nodes' output is read; while it is not, nodes that print wait.
  void take_output(bool take);

  std::string make_key(std::size_t unit) override;
  std::string place(std::size_t unit, bool needed) override;
  void release(std::size_t unit) override { places_.release(unit); }
  std::string delay(std::size_t unit) override;
  void start(std::size_t unit, std::uint32_t incarnation, const std::filesystem::path& cut) override;
  void update(std::size_t unit, std::span<const PeerState> peers) override;
  void run(NodeId node) override;
  void may_save(NodeId node) override;
  void stop(std::size_t unit, const std::string& reason, bool run_ends) override;
  void kill(std::size_t unit) override;
  void probe(NodeId node) override;
  void measure(std::span<const std::size_t> units) override;
  void abandon(const std::string& why) override;

 private:
  enum class Stop : std::uint8_t { no, asked, heard, may_leave };
  struct Unit {
    std::uint32_t incarnation = 0;
    bool up = false;  // its agent has been asked for it, and has not said that it ended
    Stop stop = Stop::no;
    // Its agent is not there yet, or no host that may have it: what it loads from, and what it will be told.
    std::optional<std::filesystem::path> cut{};
    std::vector<std::vector<std::uint8_t>> held{};
  };

  template <class Body>
  void tell(std::size_t unit, Body body);
  void attach(std::size_t host);
  void say_flow(std::size_t host);
  void welcome(std::size_t host, const control::Hello& hello);
  void take_back(std::size_t host, RemoteAgent agent);
  bool may_wait(std::size_t unit) const;
  void start_waiting(std::size_t unit);
  void start_there(std::size_t unit, const std::filesystem::path& cut);
  bool give_up_waiting(std::size_t unit, const std::string& text);
  void handle(std::size_t host, std::span<const std::uint8_t> bytes);
  void handle_node(const control::Message& message);
  std::string send_cut(std::size_t unit, const std::filesystem::path& cut);
  void keep(const control::Message& message, const control::Piece& piece);
  void let_leave();
  void lose(std::size_t host, const std::string& why);
  // `unit` has ended, or could not be started. on_exited follows.
  void end(std::size_t unit, const std::string& text);

  const Topology& topology_;
  const NodeStart start_;
  Places places_;
  std::vector<std::unique_ptr<AgentLink>> agents_;  // by host
  std::set<std::size_t> there_;                     // hosts whose agents have dialed and said what they have
  const std::unique_ptr<Redial> redial_;
  Loop& loop_;
  Output& output_;
  HostEvents* events_ = nullptr;
  std::vector<Unit> units_;
  std::vector<CurveKeys> keys_;                      // by unit: of one that is not started yet
  std::set<std::pair<NodeId, std::uint64_t>> kept_;  // what came from other hosts, by node and step, until it counts
  bool takes_output_ = true;
};

}  // namespace lp::internal
