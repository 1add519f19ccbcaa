#pragma once
// The supervisor's view of a program: its nodes, the calls between them, the nodes that share a process, and the
// policies for failures. A value that does not change while a run uses it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lp/program/options.h"

namespace lp {

struct Plan;
using NodeId = std::uint32_t;

namespace launch {

struct SupervisionGraph {
  struct Node {
    std::string name{};
    std::size_t group = 0;
    std::size_t process = 0;
    bool active = false;            // has run()
    bool member = false;            // a member of the program's cuts: has save() and load()
    std::vector<NodeId> calls{};    // the nodes to which it has edges
    std::vector<NodeId> callers{};  // the nodes that have edges to it
  };
  struct Group {
    std::string name{};
    FailurePolicy on_failure{};
    bool ends_program = false;
    Duration heartbeat{};    // 0: the run's heartbeat
    std::string replicas{};  // "4", "2..8"
    bool elastic = false;
    std::size_t least = 0;  // with fewer members left the program fails; it counts where failures do not stop it anyway
    std::vector<NodeId> nodes{};
  };
  // The nodes of one process, which live and die together.
  struct Process {
    std::string name{};  // its nodes' names, joined by commas
    std::vector<NodeId> nodes{};
    bool member = false;
    bool elastic = false;  // all of its nodes belong to elastic groups: the program may continue without it
  };

  std::vector<Node> nodes{};
  std::vector<Group> groups{};
  std::vector<Process> processes{};

  // Computes `callers`, the groups' nodes and the processes' names, `member` and `elastic` from the rest.
  void complete();
};

SupervisionGraph topology_of(const Plan& plan);

}  // namespace launch
}  // namespace lp
