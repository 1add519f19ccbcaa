#pragma once
// The hosts of a run, as a person or a scheduler names them. Values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lp {

enum class Launch : std::uint8_t { threads, processes, ssh, slurm, kubernetes };

// A machine that runs nodes.
struct HostSpec {
  std::string name{};         // as ssh or Slurm knows it
  int slots = 1;              // processes that it takes before the others have as many of theirs; members of elastic
                              // groups that need not be there take no more
  std::string address{};      // where its nodes listen; empty: that by which it is reached
  std::size_t component = 0;  // of a heterogeneous job of Slurm, whose processes it takes
  Launch launch = Launch::processes;  // of the groups whose processes it takes
};

// Each "name", "name:slots" or "name:slots:address". Throws Error for a name that stands there twice, and for what is
// none.
std::vector<HostSpec> read_hosts(const std::vector<std::string>& list);

namespace internal {

// What a host has for nodes.
struct HostCapacity {
  HostSpec spec{};
  std::vector<unsigned> cores{};    // their numbers
  std::vector<std::string> gpus{};  // by the names that CUDA knows them by
  std::uint64_t memory = 0;         // bytes
  std::string directory{};          // where nodes there write what they save; empty: the run's, which it shares with us
  std::string machine{};            // of the cluster, where the host is a pod
};

// "10.0.0.5" for the name of a host; what is an address already stays. Empty when there is none.
std::string address_of(const std::string& name);

// By which address of this host that one is reached: "10.0.0.1". Empty when it is not, or is no address.
std::string address_towards(const std::string& address);

// What this one has; its slots are not counted.
HostCapacity capacity_here();

}  // namespace internal
}  // namespace lp
