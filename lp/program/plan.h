#pragma once
// The plan of a run: a program's graph with the options of its groups after placement, checked before anything starts.
// Plain data for launchers, people and tools. Values; they copy.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lp/program/options.h"
#include "lp/rpc/core/call_context.h"

namespace lp {

class Program;

struct PlanGroup {
  GroupOptions options{};
  std::string type{};   // class of its nodes
  bool active = false;  // its nodes have run()
  bool saves = false;   // its nodes are members of the program's cuts
  NodeId first = 0;     // its first node; the others follow it in Plan::nodes
  int size = 0;
  std::string launcher{};  // launcher of its nodes; empty: all groups have the same one
};

struct PlanNode {
  std::string name{};
  std::size_t group = 0;    // position in Plan::groups
  int index = 0;            // replica number
  std::size_t process = 0;  // nodes of equal number share a process; numbered without gaps, in the order of the nodes
  std::vector<NodeId> calls{};  // the nodes whose handles it has
};

struct Plan {
  std::string program{};
  std::uint64_t fingerprint = 0;
  std::vector<PlanGroup> groups{};
  std::vector<PlanNode> nodes{};
  std::size_t processes = 0;
  // By process: the host where it would go, or empty where that is decided later; empty: nothing is known of that.
  std::vector<std::string> hosts{};
};

// The resources that a host has for the program. An empty value is not checked.
struct HostResources {
  std::optional<double> cpus{};
  std::optional<int> gpus{};
  std::optional<std::uint64_t> memory{};  // bytes
  std::string no_gpus{};                  // why it has none, where people may expect some
};

struct PlanOptions {
  // The options of each group, in the program's order, after a placement. Empty: the program's own options.
  std::vector<GroupOptions> groups{};
  HostResources host{};
  std::vector<bool> on_host{};   // by group: whether it runs on that host; empty: all do
  bool serve_forever = false;    // the program may consist of services alone: it ends when it is stopped
  std::vector<bool> together{};  // by group: the nodes of all such groups share one process; empty: none do
};

// Throws one Error(failed) that has a line for every problem of the graph and its options.
Plan make_plan(const Program& program, const PlanOptions& options = {});

// Returns short names of the callees of one node or of a group's nodes: "server" if all nodes of that group are called,
// otherwise "server/0".
std::vector<std::string> calls_of(const Plan& plan, std::span<const PlanNode> nodes);

// Returns text for people: a paragraph for each group, in 100 columns.
std::string to_text(const Plan& plan);
// Returns JSON for tools, on one line.
std::string to_json(const Plan& plan);

// Returns the nodes of a group.
inline std::span<const PlanNode> nodes_of(const Plan& plan, const PlanGroup& group) {
  return std::span(plan.nodes).subspan(group.first, static_cast<std::size_t>(group.size));
}

}  // namespace lp
