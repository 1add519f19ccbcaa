#include "tools/lp/plan_file.h"

#include <charconv>
#include <map>

#include "lp/base/error.h"
#include "lp/base/json_value.h"
#include "lp/base/text.h"
#include "tools/lp/command_error.h"

namespace lp::tool {
namespace {

constexpr std::size_t kShownMembers = 8;  // names of a group in a sentence

// The types that to_json(Plan) writes.
struct PolicyText {
  FailurePolicy::Action action = FailurePolicy::Action::stop;
  int budget = 0;
  double backoff = 0;
};
struct GroupText {
  std::string name{};
  std::string type{};
  int replicas = 0;
  int least = 0;  // set for an elastic group
  bool active = false;
  bool saves = false;
  bool ends_program = false;
  double cpus = 0;
  double gpus = 0;
  std::uint64_t memory = 0;
  std::string device{};
  std::map<std::string, std::string> environment{};
  double heartbeat = 0;
  PolicyText on_failure{};
};
struct NodeText {
  std::string name{};
  std::string group{};
  int index = 0;
  std::size_t process = 0;
  std::vector<std::string> calls{};
};
struct PlanText {
  std::string program{};
  std::string fingerprint{};
  std::size_t processes = 0;
  std::vector<GroupText> groups{};
  std::vector<NodeText> nodes{};
};

Duration duration(double seconds) { return from_seconds(seconds); }

Plan plan_from(const PlanText& text) {
  Plan plan{.program = text.program, .processes = text.processes};
  std::from_chars(text.fingerprint.data(), text.fingerprint.data() + text.fingerprint.size(), plan.fingerprint, 16);
  std::map<std::string, std::size_t> groups;
  std::map<std::string, NodeId> nodes;
  for (const NodeText& node : text.nodes) nodes.emplace(node.name, static_cast<NodeId>(nodes.size()));
  for (const GroupText& group : text.groups) {
    groups.emplace(group.name, groups.size());
    PlanGroup& one = plan.groups.emplace_back();
    one.type = group.type;
    one.active = group.active;
    one.saves = group.saves;
    one.size = group.replicas;
    one.options = {.name = group.name,
                   .replicas = {group.least > 0 ? group.least : group.replicas, group.replicas},
                   .cpus = group.cpus,
                   .gpus = group.gpus,
                   .memory = group.memory,
                   .environment = group.environment,
                   .ends_program = group.ends_program,
                   .device = group.device};
    one.options.heartbeat = duration(group.heartbeat);
    one.options.on_failure = {.action = group.on_failure.action,
                              .budget = group.on_failure.budget,
                              .backoff = duration(group.on_failure.backoff)};
  }
  for (const NodeText& node : text.nodes) {
    const auto group = groups.find(node.group);
    if (group == groups.end() || node.process >= text.processes) {
      throw Error(ErrorKind::failed, "node " + quote(node.name) + " has no group, or no process");
    }
    const NodeId id = static_cast<NodeId>(plan.nodes.size());
    PlanNode& one = plan.nodes.emplace_back();
    one = {.name = node.name, .group = group->second, .index = node.index, .process = node.process};
    if (node.index == 0) plan.groups[one.group].first = id;
    for (const std::string& callee : node.calls) {
      const auto at = nodes.find(callee);
      if (at == nodes.end()) throw Error(ErrorKind::failed, "there is no node " + quote(callee));
      one.calls.push_back(at->second);
    }
  }
  for (const PlanGroup& group : plan.groups) {
    if (group.size < 0 || group.first + static_cast<std::size_t>(group.size) > plan.nodes.size()) {
      throw Error(ErrorKind::failed, "group " + quote(group.options.name) + " does not have the nodes that it lists");
    }
  }
  return plan;
}

}  // namespace

Plan parse_plan(std::string_view json) {
  try {
    return plan_from(from_json<PlanText>(json));
  } catch (const Error& error) {
    throw CommandError(Exit::failed, "this is not a plan: " + error.text());
  }
}

Plan plan_of(const RunLocation& run) {
  const std::filesystem::path file = run.directory / "plan.json";
  try {
    return parse_plan(read_text(file).value_or(""));
  } catch (const CommandError& error) {
    throw CommandError(error.code(), file.string() + ": " + error.what());
  }
}

std::vector<NodeId> find_nodes(const Plan& plan, const std::string& given) {
  std::vector<NodeId> found;
  std::vector<std::string> names;
  for (NodeId id = 0; id < plan.nodes.size(); ++id) {
    const std::string& group = plan.groups[plan.nodes[id].group].options.name;
    if (plan.nodes[id].name == given || group == given) found.push_back(id);
    names.push_back(plan.nodes[id].name);
    if (names.back() != group) names.push_back(group);
  }
  if (found.empty()) throw CommandError(Exit::unknown, "there is no node " + quote(given) + did_you_mean(given, names));
  return found;
}

std::string find_node(const Plan& plan, const std::string& given) {
  const std::vector<NodeId> found = find_nodes(plan, given);
  if (found.size() == 1) return plan.nodes[found.front()].name;
  std::vector<std::string> members;
  for (const NodeId id : found) {
    if (members.size() < kShownMembers) members.push_back(plan.nodes[id].name);
  }
  if (found.size() > members.size()) members.push_back("... or " + plan.nodes[found.back()].name);
  throw CommandError(Exit::usage, given + " is a group: name one of its nodes: " + join(members, ", "));
}

}  // namespace lp::tool
