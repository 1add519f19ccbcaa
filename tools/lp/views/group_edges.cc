#include "tools/lp/views/group_edges.h"

#include <algorithm>
#include <string>

#include "lp/program/sent_values.h"

namespace lp::tool {
namespace {

std::string text_of(const CallRate& rate) {
  const std::string latency = short_time(rate.latency.quantile(0.5));
  return short_number(rate.calls) + "/s" + (latency.empty() ? "" : ", " + latency) +
         (rate.errors > 0 ? ", " + short_number(rate.errors) + " errors/s" : "");
}

}  // namespace

GroupEdges edges_of(const Plan& plan) {
  GroupEdges edges;
  for (const PlanNode& node : plan.nodes) {
    for (const NodeId callee : node.calls) edges[{node.group, plan.nodes[callee].group}];
  }
  return edges;
}

void add_rates(GroupEdges& edges, const Plan& plan, const Rates& rates) {
  std::map<std::string, std::size_t> groups;
  for (const PlanNode& node : plan.nodes) groups.emplace(node.name, node.group);
  for (const auto& [edge, rate] : rates.edges) {
    const auto from = groups.find(edge.first), to = groups.find(edge.second);
    if (from == groups.end() || to == groups.end()) continue;
    std::optional<CallRate>& sum = edges[{from->second, to->second}].rate;
    if (!sum.has_value()) sum.emplace();
    sum->add(rate);
  }
}

void add_sent(GroupEdges& edges, const Plan& plan, const RunStatus& status) {
  for (std::size_t i = 0; i < std::min(plan.nodes.size(), status.nodes.size()); ++i) {
    const auto value = [&](const std::string& name) {
      const auto at = status.nodes[i].values.find(name);
      return at == status.nodes[i].values.end() ? 0 : at->second;
    };
    for (std::size_t group = 0; group < plan.groups.size(); ++group) {
      const auto at = edges.find({plan.nodes[i].group, group});
      if (at == edges.end()) continue;
      at->second.records += value(records_to(plan.groups[group].options.name));
      at->second.bytes += value(bytes_to(plan.groups[group].options.name));
    }
  }
}

std::vector<EdgeLabel> labels_of(const GroupEdges& edges) {
  std::vector<EdgeLabel> labels;
  for (const auto& [groups, edge] : edges) {
    std::string text;
    if (edge.records > 0) text = short_number(edge.records) + " records, " + short_number(edge.bytes) + "B";
    if (edge.rate) text += (text.empty() ? "" : ", ") + text_of(*edge.rate);
    if (!text.empty()) labels.push_back({groups.first, groups.second, text});
  }
  return labels;
}

void write_edges(JsonWriter& json, const Plan& plan, const GroupEdges& edges) {
  json.key("edges");
  json.begin_array();
  for (const auto& [groups, edge] : edges) {
    json.begin_object();
    json.member("caller", plan.groups[groups.first].options.name);
    json.member("callee", plan.groups[groups.second].options.name);
    if (edge.records > 0) {
      json.member("records", edge.records);
      json.member("bytes", edge.bytes);
    }
    if (edge.rate.has_value()) write_rate(json, "calls", *edge.rate);
    json.end_object();
  }
  json.end_array();
}

}  // namespace lp::tool
