#pragma once
// Nodes as processes of this host, below an agent: the launcher's end of the agent's control connection.
//
// Owned and used by the loop thread of a run, except for the constructor, which any thread may call.

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "launchers/control_socket.h"
#include "launchers/host.h"
#include "launchers/loop.h"
#include "launchers/output.h"
#include "launchers/topology.h"
#include "lp/rpc/curve.h"
#include "lp/rpc/path.h"

namespace lp::control {
struct Message;
}

namespace lp::internal {

// What every process of a run is told.
struct NodeStart {
  std::uint64_t fingerprint = 0;
  std::string entry{};
  std::string configuration{};
  std::uint64_t seed = 0;
  std::string run{};
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

// What one unit's process gets beside that.
struct UnitPlace {
  std::vector<std::string> environment{};  // NAME=value
  std::vector<unsigned> cores{};           // empty: all
  std::uint64_t memory = 0;                // bytes that it may use; 0: no limit
  std::vector<std::string> debugger{};     // the command that runs it; empty: none
  std::string listen = "127.0.0.1";        // address of its host, for TCP
};

class ProcessHost final : public Host {
 public:
  // Starts the agent. Throws Error when that fails, or when descriptors would run out.
  ProcessHost(const Topology& topology, NodeStart start, std::vector<UnitPlace> places, Loop& loop, Output& output);
  // Ends the agent, and with it everything that is left.
  ~ProcessHost() override;

  void attach(HostEvents& events);
  // Whether the nodes' output is read; while it is not, nodes that print wait.
  void take_output(bool take);

  std::string make_key(std::size_t unit) override;
  void start(std::size_t unit, std::uint32_t incarnation, const std::filesystem::path& cut) override;
  void update(std::size_t unit, std::span<const PeerState> peers) override;
  void run(NodeId node) override;
  void stop(std::size_t unit, const std::string& reason) override;
  void kill(std::size_t unit) override;
  void probe(NodeId node) override;
  void measure(std::span<const std::size_t> units) override;
  void abandon(const std::string& why) override;

 private:
  template <class Body>
  void tell(std::size_t unit, Body body);
  void send(std::span<const std::uint8_t> bytes);
  void hear();
  void handle(std::span<const std::uint8_t> bytes);
  void handle_node(const control::Message& message);
  void lose(const std::string& why);
  void end_agent();

  const Topology& topology_;
  const NodeStart start_;
  const std::vector<UnitPlace> places_;
  Loop& loop_;
  Output& output_;
  HostEvents* events_ = nullptr;
  std::unique_ptr<ControlSocket> agent_;
  pid_t agent_pid_ = -1;
  std::vector<std::uint32_t> incarnations_;  // by unit
  std::vector<CurveKeys> keys_;              // by unit: of one that is not started yet
  bool takes_output_ = true;
};

}  // namespace lp::internal
