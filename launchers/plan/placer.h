#pragma once
// Assigns to each process of a run its host, the address that it listens on, its environment, cores, memory and GPUs.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "launchers/plan/host_gpus.h"
#include "launchers/plan/hosts.h"
#include "launchers/plan/process_resources.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/config/group_placement.h"
#include "lp/program/plan.h"

namespace lp::launch {

// The place of one process of a run: its host, and its share of that host's resources.
struct Assignment {
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  std::size_t host = kNowhere;
  std::vector<std::string> environment{};  // NAME=value
  std::string directory{};                 // its working directory; empty: the agent's
  std::vector<unsigned> cores{};           // empty: all
  std::vector<std::size_t> gpus{};         // positions in the list of its host
  std::uint64_t gpu_memory = 0;            // the limit in bytes on a GPU that it shares; 0: no limit
  std::uint64_t memory = 0;                // the limit in bytes; 0: no limit
  std::vector<std::string> debugger{};     // the command that runs it; empty: none
  std::string listen{};                    // its host's address for TCP
};

// Assigns hosts and their resources to processes, in the order of the plan. Each process goes to the host, among those
// that its groups allow, that has the smallest part of its slots in use. A GPU belongs to one process, or to several
// that ask for parts of it, and each of them may have the same part of its memory. With `pin` a core belongs to one
// process. When any group asks for GPUs, the processes of the others see none. Optional members of an elastic group
// come last. They stay without a place when no resources or slots are left. One thread owns it.
class Placer {
 public:
  struct Options {
    bool pin = false;
    // each process has the host of its own number, and the engine has given that host what the process needs
    bool dedicated = false;
    std::vector<LaunchType> launches{};     // by process: the engine of the hosts that it may have; empty: any
    std::vector<std::size_t> components{};  // by process: the component of the hosts that it may have; empty: any
    std::string debug{};                    // the node that runs under a debugger
    std::vector<GroupPlacement> placements{};
  };

  // Throws Error, with the sum, for processes that do not fit, for an unknown host, and for an unknown node to debug.
  Placer(const Plan& plan, const SupervisionGraph& graph, std::vector<HostCapacity> hosts, const Options& options);

  const Assignment& of(std::size_t process) const { return places_[process]; }
  const HostCapacity& host(std::size_t index) const { return hosts_[index]; }
  std::vector<std::string> gpus_of(std::size_t process) const;  // their UUIDs

  // Records that the host is present, or present again, at this address, with the resources that the engine has given
  // it. The other arguments are as in HostCapacity.
  void connected(std::size_t host, const std::string& address, const std::string& directory,
                 const std::string& machine);
  // Records that the host is lost. Its resources are assigned no more.
  void lose(std::size_t host);
  // Records that a lost host is back with this capacity. Processes that ran there are assigned again while they fit;
  // the rest become unassigned.
  void take_back(std::size_t host, HostCapacity capacity);
  // Records that a GPU of the host is of no use any more. It is assigned no more, and a process that has it gets
  // another place at its next place().
  void break_gpu(std::size_t host, const std::string& uuid) { free_[host].gpus.break_gpu(uuid); }
  // Returns the host's whole capacity, like "2 gpus, 3.5G of memory"; with `pin` it includes the cores.
  std::string capacity_text(std::size_t host) const;
  // Returns true if the process may have a lost host that is being dialed again.
  bool misses_host(std::size_t process) const;
  // Assigns the process to a host unless it already has a live one. Returns why that is impossible, or an empty string
  // on success. Only a required process may exceed a host's slots.
  std::string place(std::size_t process, bool needed);
  // Frees the process's place for other processes.
  void release(std::size_t process);

 private:
  struct Need : ProcessResources {
    std::vector<bool> hosts{};  // the hosts that may have it
  };
  struct Free {
    std::vector<unsigned> cores{};
    HostGpus gpus{};
    std::uint64_t memory = 0;
    int processes = 0;  // the number of processes there
    bool lost = false;
  };

  static std::size_t cores_of(const Need& need);
  static Free all_of(const HostCapacity& host);
  void set_directory(const GroupPlacement& place);
  std::string put(std::size_t process, bool needed);
  void assign(std::size_t process, std::size_t host);
  bool fits(const Need& need, std::size_t host, bool needed) const;
  std::string shortage(std::size_t process, bool needed) const;
  std::string list(std::size_t cpus, const std::string& gpus, std::uint64_t memory) const;

  const SupervisionGraph& graph_;
  const bool pin_;
  bool hides_gpus_ = false;  // from processes that have asked for none
  std::vector<HostCapacity> hosts_;
  std::vector<Free> free_;
  std::vector<Need> needs_;                                       // by process
  std::vector<Assignment> places_;                                // by process
  std::vector<std::map<std::string, std::string>> environments_;  // by process: the variables of its groups
};

}  // namespace lp::launch
