#pragma once
// What each process of a run gets beside its nodes: its host, environment, processors, GPUs.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "launchers/plan/hosts.h"
#include "launchers/plan/launch_options.h"
#include "launchers/plan/launcher_choice.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/config/placement.h"
#include "lp/program/plan.h"

namespace lp::internal {

// What the groups of `program` are to be, after what a configuration file says of them. Throws Error for a group that
// the program does not have, and for what cannot be done on one host.
std::vector<GroupOptions> placed_groups(const Program& program, std::span<const GroupPlacement> placements);

// The plan of a launch on this host. Throws Error with everything that is wrong.
Plan plan_here(const Program& program, const LaunchOptions& options);

// Where each process would go, if each host of ssh has what is asked of it: they are not asked what they have. By
// process; empty for one whose engine decides, and for one that the program begins without. Nothing where no group has
// the launcher ssh. Throws Error as Places does.
std::vector<std::string> planned_hosts(const Plan& plan, const GroupLaunchers& launchers, const LaunchOptions& options);

// What each process of a run gets: its host, and a share of what that has.
struct UnitPlace {
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  std::size_t host = kNowhere;
  std::vector<std::string> environment{};  // NAME=value
  std::string directory{};                 // to work in; empty: the agent's
  std::vector<unsigned> cores{};           // empty: all
  std::vector<std::string> gpus{};
  std::uint64_t memory = 0;             // bytes that it may use; 0: no limit
  std::vector<std::string> debugger{};  // the command that runs it; empty: none
  std::string listen{};                 // address of its host, for TCP
};

// Gives out hosts and what they have, in the order of the plan: each unit goes to the host, among those that its groups
// allow, that has the smallest part of its slots in use. GPUs and, with `pin`, processors belong to one unit each.
// Members of an elastic group that need not be there come last, and have no place when there is none, or no slot, left.
// Owned by one thread.
class Places {
 public:
  struct Options {
    bool pin = false;
    bool dedicated = false;  // each unit has the host of its number, which the engine has given what the unit needs
    std::vector<Launch> launches{};         // by unit: that of the hosts that it may have; empty: it may have any
    std::vector<std::size_t> components{};  // the same of the component
    std::string debug{};                    // the node that runs under a debugger
    std::vector<GroupPlacement> placements{};
  };

  // Throws Error, with the sum, for what does not fit, for a host that is not there, and for a node to debug that is
  // not.
  Places(const Plan& plan, const Topology& topology, std::vector<HostCapacity> hosts, const Options& options);

  const UnitPlace& of(std::size_t unit) const { return places_[unit]; }
  const HostCapacity& host(std::size_t index) const { return hosts_[index]; }

  // The host is there, or there again, at this address, and has what the engine has given it; the others as in
  // HostCapacity.
  void meet(std::size_t host, const std::string& address, const std::string& directory, const std::string& machine);
  // The host is lost: what it has is given out no more.
  void lose(std::size_t host);
  // The host that was lost is there again, and has this now. Who had its place there has one there as long as all fit;
  // the others have none.
  void take_back(std::size_t host, HostCapacity capacity);
  // "2 gpus, 3.5G of memory", with `pin` its processors, too: all that the host has.
  std::string capacity_text(std::size_t host) const;
  // Whether the unit may have a host that is lost, and dialed again.
  bool misses_host(std::size_t unit) const;
  // Gives the unit a place if it has none, or if its host is lost. Why that cannot be; empty: it has one. Only a unit
  // that is `needed` has one where all slots are in use.
  std::string place(std::size_t unit, bool needed);
  // Others may have its place.
  void release(std::size_t unit);

 private:
  struct Need {
    double cpus = 0;
    int gpus = 0;
    std::uint64_t memory = 0;
    std::vector<bool> hosts{};  // which may have it
  };
  struct Free {
    std::vector<unsigned> cores{};
    std::vector<std::string> gpus{};
    std::uint64_t memory = 0;
    int units = 0;  // that are there
    bool lost = false;
  };

  static std::size_t cores_of(const Need& need);
  static Free all_of(const HostCapacity& host);
  void set_directory(const GroupPlacement& place);
  std::string put(std::size_t unit, bool needed);
  void seat(std::size_t unit, std::size_t host);
  bool fits(const Need& need, std::size_t host, bool needed) const;
  std::string shortage(std::size_t unit, bool needed) const;
  std::string list(std::size_t cpus, std::size_t gpus, std::uint64_t memory) const;

  const Topology& topology_;
  const bool pin_;
  std::vector<HostCapacity> hosts_;
  std::vector<Free> free_;
  std::vector<Need> needs_;                                       // by unit
  std::vector<UnitPlace> places_;                                 // by unit
  std::vector<std::map<std::string, std::string>> environments_;  // by unit: what its groups say
};

}  // namespace lp::internal
