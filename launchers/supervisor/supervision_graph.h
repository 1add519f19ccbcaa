#pragma once
// What the supervisor needs to know of a program: which nodes there are, who calls whom, which share a process, and
// what shall happen when one fails. A value; nobody changes it while a run uses it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lp/program/options.h"

namespace lp {

struct Plan;
using NodeId = std::uint32_t;

namespace internal {

struct Topology {
  struct Node {
    std::string name{};
    std::size_t group = 0;
    std::size_t unit = 0;
    bool active = false;            // has run()
    bool member = false;            // of the program's cuts: has save() and load()
    std::vector<NodeId> calls{};    // the nodes that it has edges to
    std::vector<NodeId> callers{};  // the nodes that have edges to it
  };
  struct Group {
    std::string name{};
    FailurePolicy on_failure{};
    bool ends_program = false;
    Duration heartbeat{};    // 0: the run's
    std::string replicas{};  // "4", "2..8"
    std::size_t least = 0;   // of an elastic group: so many members must be there; 0: it is not elastic
    std::vector<NodeId> nodes{};
  };
  // What lives and dies together: the nodes of one process.
  struct Unit {
    std::string name{};  // of its nodes, joined by commas
    std::vector<NodeId> nodes{};
    bool member = false;
    bool elastic = false;  // all of its nodes are of elastic groups: the program may go on without it
  };

  std::vector<Node> nodes{};
  std::vector<Group> groups{};
  std::vector<Unit> units{};

  // Fills `callers`, the groups' nodes and the units' names, `member` and `elastic` from the rest.
  void complete();
};

Topology topology_of(const Plan& plan);

}  // namespace internal
}  // namespace lp
