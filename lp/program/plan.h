#pragma once
// What will run: a program's graph with the options that its groups have after placement, checked before anything
// starts. Plain data, for launchers, people and tools; values, they copy.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lp/program/options.h"
#include "lp/rpc/core/frame.h"

namespace lp {

class Program;

struct PlanGroup {
  GroupOptions options{};
  std::string type{};   // the class of its nodes
  bool active = false;  // they have run()
  bool saves = false;   // they are members of the program's cuts
  NodeId first = 0;     // its nodes follow each other in Plan::nodes
  int size = 0;
  std::string launcher{};  // that of its nodes; empty: all groups have the same
};

struct PlanNode {
  std::string name{};
  std::size_t group = 0;        // position in Plan::groups
  int index = 0;                // which replica
  std::size_t process = 0;      // nodes of equal number share one; numbered without gaps, in the order of the nodes
  std::vector<NodeId> calls{};  // the nodes that it has handles of
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

// What a host has for the program; what is empty is not looked at.
struct HostResources {
  std::optional<double> cpus{};
  std::optional<int> gpus{};
  std::optional<std::uint64_t> memory{};  // bytes
};

struct PlanOptions {
  // Each group's options, in the program's order, where a placement has changed some. Empty: as the program says.
  std::vector<GroupOptions> groups{};
  HostResources host{};
  std::vector<bool> on_host{};   // by group: that is where it shall run; empty: all do
  bool serve_forever = false;    // a program of services alone is meant: it ends when it is stopped
  std::vector<bool> together{};  // by group: its nodes share one process with those of all such groups; empty: none
};

// Throws one Error(failed) that has a line for everything that is wrong with the graph and its options.
Plan make_plan(const Program& program, const PlanOptions& options = {});

// What it calls, in few words: "server" for all nodes of the group, else "server/0". Of one node or of a group's nodes.
std::vector<std::string> calls_of(const Plan& plan, std::span<const PlanNode> nodes);

// For people: a paragraph for each group, in 100 columns.
std::string to_text(const Plan& plan);
// For tools: one line.
std::string to_json(const Plan& plan);

// The nodes of a group.
inline std::span<const PlanNode> nodes_of(const Plan& plan, const PlanGroup& group) {
  return std::span(plan.nodes).subspan(group.first, static_cast<std::size_t>(group.size));
}

}  // namespace lp
