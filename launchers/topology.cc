#include "launchers/topology.h"

#include <map>

#include "lp/base/error.h"
#include "lp/base/message.h"
#include "lp/program/program.h"

namespace lp::internal {

void Topology::complete() {
  for (NodeId id = 0; id < nodes.size(); ++id) {
    Node& node = nodes[id];
    groups[node.group].nodes.push_back(id);
    for (const NodeId callee : node.calls) nodes[callee].callers.push_back(id);
    if (node.unit >= units.size()) units.resize(node.unit + 1);
    Unit& unit = units[node.unit];
    unit.nodes.push_back(id);
    unit.name += (unit.name.empty() ? "" : ",") + node.name;
    unit.member = unit.member || node.member;
  }
}

namespace {

[[noreturn]] void refuse(const Program& program, const std::string& what) {
  throw Error(ErrorKind::failed, "program '" + program.name() + "': " + what);
}

bool is_file_name(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !name.empty() && name.size() <= 64 && name.front() != '.' && name.front() != '-' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

void check(const Program& program) {
  if (!is_file_name(program.name()))
    refuse(program, "its name must be of letters, digits, '_', '-' and '.', 64 at most");
  if (program.nodes().empty()) refuse(program, "it has no nodes: add one");
  std::vector<std::string> names;
  for (const NodeSpec& node : program.nodes()) names.push_back(node.name);
  for (const GroupSpec& group : program.groups()) {
    const GroupOptions& options = group.options;
    if (!is_file_name(options.name)) {
      refuse(program,
             "the name of group '" + options.name + "' must be of letters, digits, '_', '-' and '.', 64 at most");
    }
    if (group.size < 1)
      refuse(program,
             "group '" + options.name + "' has " + std::to_string(options.replicas) + " replicas, and needs one");
    if (options.cpus < 0 || options.gpus < 0 || options.on_failure.budget < 0) {
      refuse(program, "group '" + options.name + "' asks for less than nothing: cpus, gpus and budgets are 0 or more");
    }
    const NodeType* type = program.nodes()[group.first].type;
    if (options.ends_program && type != nullptr && !type->active) {
      refuse(program, "group '" + options.name + "' is to end the program, and its nodes have no run() that could");
    }
  }
  for (const NodeSpec& node : program.nodes()) {
    if (node.type == nullptr)
      refuse(program, "node '" + node.name + "' is declared and never defined: call define(handle, ...)");
    for (const std::string& edge : node.edges) {
      if (!program.find(edge).has_value()) {
        refuse(program, "'" + node.name + "' has a handle of '" + edge + "', which is no node of this program" +
                            did_you_mean(edge, names));
      }
    }
  }
}

}  // namespace

Topology topology_of(const Program& program, std::span<const GroupOptions> groups) {
  check(program);
  Topology topology;
  for (const GroupOptions& group : groups) {
    topology.groups.push_back({.name = group.name,
                               .on_failure = group.on_failure,
                               .ends_program = group.ends_program,
                               .heartbeat = group.heartbeat});
  }
  std::map<std::size_t, std::size_t> units;  // by NodeSpec::process
  for (const NodeSpec& node : program.nodes()) {
    const std::size_t unit = units.try_emplace(node.process, units.size()).first->second;
    Topology::Node mine{.name = node.name, .group = node.group, .unit = unit};
    mine.active = node.type->active;
    mine.member = node.type->saves;
    for (const std::string& edge : node.edges) mine.calls.push_back(*program.find(edge));
    topology.nodes.push_back(std::move(mine));
  }
  topology.complete();
  return topology;
}

}  // namespace lp::internal
