#include "launchers/plan.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "launchers/topology.h"
#include "lp/base/enums.h"
#include "lp/base/json.h"

namespace lp::internal {
namespace {

std::string policy_text(const FailurePolicy& policy) {
  std::string text(enum_name(policy.action));
  if (policy.action == FailurePolicy::Action::restart) text += " " + std::to_string(policy.budget);
  return text;
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

// Which group calls which, each pair once.
std::set<std::pair<std::string, std::string>> group_edges(const Plan& plan) {
  std::map<std::string, std::string> group_of;
  for (const PlanNode& node : plan.nodes) group_of[node.name] = node.group;
  std::set<std::pair<std::string, std::string>> edges;
  for (const PlanNode& node : plan.nodes) {
    for (const std::string& callee : node.calls) edges.emplace(node.group, group_of[callee]);
  }
  return edges;
}

std::string title(const PlanGroup& group) {
  return group.name + (group.replicas > 1 ? " × " + std::to_string(group.replicas) : "");
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

Plan plan_of(const Program& program, std::span<const GroupOptions> groups, Launch launch) {
  const Topology topology = topology_of(program, groups);
  std::array<char, 20> fingerprint{};
  std::snprintf(fingerprint.data(), fingerprint.size(), "%016llx",
                static_cast<unsigned long long>(program.fingerprint()));
  Plan plan{.program = program.name(), .launch = launch, .fingerprint = fingerprint.data()};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const GroupSpec& group = program.groups()[i];
    const NodeType& type = *program.nodes()[group.first].type;
    plan.groups.push_back({.name = groups[i].name,
                           .type = std::string(type.name),
                           .replicas = group.size,
                           .cpus = groups[i].cpus,
                           .gpus = groups[i].gpus,
                           .memory = groups[i].memory,
                           .on_failure = policy_text(groups[i].on_failure),
                           .ends_program = groups[i].ends_program,
                           .active = type.active,
                           .saves = type.saves});
  }
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    plan.nodes.push_back({.name = topology.nodes[i].name,
                          .group = topology.groups[topology.nodes[i].group].name,
                          .process = topology.nodes[i].unit,
                          .calls = program.nodes()[i].edges});
  }
  for (const Topology::Unit& unit : topology.units) plan.units.push_back(unit.name);
  return plan;
}

std::string plan_json(const Plan& plan) { return to_json(plan); }

std::string plan_text(const Plan& plan) {
  const bool processes = plan.launch == Launch::processes;
  std::string text = plan.program + ": " + std::to_string(plan.nodes.size()) + " nodes, as " +
                     (processes ? std::to_string(plan.units.size()) + " processes" : "threads of one process") + "\n";
  const auto edges = group_edges(plan);
  for (const PlanGroup& group : plan.groups) {
    text += "\n" + title(group) + "  (" + group.type + ")\n";
    text += std::string("  ") + (group.active ? "runs and serves" : "serves") + "; on failure: " + group.on_failure +
            (group.ends_program ? "; its end ends the program" : "") + (group.saves ? "; saved in every cut" : "") +
            "\n";
    std::string needs;
    if (group.cpus > 0) needs += " " + number(group.cpus) + " cpus";
    if (group.gpus > 0) needs += " " + std::to_string(group.gpus) + " gpus";
    if (group.memory > 0) needs += " " + std::to_string(group.memory) + " bytes";
    if (!needs.empty()) text += "  each needs" + needs + "\n";
    std::string callees;
    for (const auto& [caller, callee] : edges) {
      if (caller == group.name) callees += (callees.empty() ? "" : ", ") + callee;
    }
    if (!callees.empty()) text += "  calls " + callees + "\n";
  }
  for (const std::string& unit : plan.units) {
    if (processes && unit.find(',') != std::string::npos) text += "\none process: " + unit + "\n";
  }
  text.pop_back();
  return text;
}

std::string plan_dot(const Plan& plan) {
  std::string text = "digraph \"" + plan.program + "\" {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (const PlanGroup& group : plan.groups) {
    text += "  \"" + group.name + "\" [label=\"" + title(group) + "\"" + (group.active ? ", penwidth=2" : "") + "];\n";
  }
  for (const auto& [caller, callee] : group_edges(plan)) text += "  \"" + caller + "\" -> \"" + callee + "\";\n";
  return text + "}\n";
}

// Layers from left to right: a group stands right of those that call it, as far as there is no cycle.
std::string plan_svg(const Plan& plan) {
  constexpr int kWidth = 180, kHeight = 44, kGapX = 90, kGapY = 30, kMargin = 20;
  const auto edges = group_edges(plan);
  std::map<std::string, std::size_t> layer;
  for (std::size_t round = 0; round < plan.groups.size(); ++round) {
    for (const auto& [caller, callee] : edges) {
      if (caller != callee)
        layer[callee] = std::min(std::max(layer[callee], layer[caller] + 1), plan.groups.size() - 1);
    }
  }
  std::map<std::size_t, int> filled;
  std::map<std::string, std::pair<int, int>> place;
  int width = 0, height = 0;
  std::string boxes;
  for (const PlanGroup& group : plan.groups) {
    const int x = kMargin + static_cast<int>(layer[group.name]) * (kWidth + kGapX);
    const int y = kMargin + filled[layer[group.name]]++ * (kHeight + kGapY);
    place[group.name] = {x, y};
    width = std::max(width, x + kWidth + kMargin);
    height = std::max(height, y + kHeight + kMargin);
    boxes += "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" + std::to_string(kWidth) +
             "\" height=\"" + std::to_string(kHeight) + "\" rx=\"8\" fill=\"white\" stroke=\"black\" stroke-width=\"" +
             (group.active ? "2" : "1") + "\"/>\n<text x=\"" + std::to_string(x + kWidth / 2) + "\" y=\"" +
             std::to_string(y + kHeight / 2 + 5) + "\" text-anchor=\"middle\">" + escaped(title(group)) + "</text>\n";
  }
  std::string lines;
  for (const auto& [caller, callee] : edges) {
    if (caller == callee) continue;
    const auto [x1, y1] = place[caller];
    const auto [x2, y2] = place[callee];
    const bool forward = x2 > x1;
    lines += "<line x1=\"" + std::to_string(forward ? x1 + kWidth : x1) + "\" y1=\"" +
             std::to_string(y1 + kHeight / 2) + "\" x2=\"" + std::to_string(forward ? x2 : x2 + kWidth) + "\" y2=\"" +
             std::to_string(y2 + kHeight / 2) + "\" stroke=\"black\" marker-end=\"url(#arrow)\"/>\n";
  }
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) + "\" height=\"" +
         std::to_string(height) + "\" font-family=\"sans-serif\" font-size=\"14\">\n<title>" + escaped(plan.program) +
         "</title>\n<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" "
         "markerHeight=\"8\" orient=\"auto\"><path d=\"M0,0 L10,5 L0,10 z\"/></marker></defs>\n" +
         lines + boxes + "</svg>\n";
}

}  // namespace lp::internal
