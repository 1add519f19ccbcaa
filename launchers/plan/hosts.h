#pragma once
// The hosts of a run as a person or a scheduler names them. Values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "launchers/engine_interface/launch_type.h"
#include "lp/gpu/gpu.h"

namespace lp {

// A machine that runs nodes.
struct HostSpec {
  std::string name{};  // the name that ssh or Slurm knows
  // Hosts fill in proportion to their slots. Only optional members of elastic groups are refused beyond them.
  int slots = 1;
  std::string address{};      // the address at which its nodes listen; empty: the address by which it is reached
  std::size_t component = 0;  // the component of a heterogeneous Slurm job whose processes it takes
  LaunchType launch = LaunchType::processes;  // the engine of the groups whose processes it takes
  bool comes_back = false;                    // it is dialed again when it is lost
};

// Parses a list of "name", "name:slots" or "name:slots:address". Throws Error for a name that occurs twice and for a
// malformed one.
std::vector<HostSpec> read_hosts(const std::vector<std::string>& list);

namespace launch {

// The resources of a host for its nodes.
struct HostCapacity {
  HostSpec spec{};
  std::vector<unsigned> cores{};  // core numbers
  std::vector<gpu::Gpu> gpus{};
  std::uint64_t memory = 0;  // bytes
  // the directory for the files that its nodes save; empty: the run's directory, which it shares with us
  std::string directory{};
  std::string machine{};  // the machine of the cluster, where the host is a pod
};

// Returns an address like "10.0.0.5" for the name of a host. An address stays as it is. Empty when the name is unknown.
std::string address_of(const std::string& name);

// Returns this host's address on the route to `address`: "10.0.0.1". Empty when there is no route, or when `address` is
// no address.
std::string address_towards(const std::string& address);

// The resources of this host; slots are not counted.
HostCapacity capacity_here();

}  // namespace launch
}  // namespace lp
