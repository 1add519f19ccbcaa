#include "launchers/supervisor/supervision_graph.h"

#include "lp/program/plan.h"

namespace lp::launch {

void SupervisionGraph::complete() {
  for (NodeId id = 0; id < nodes.size(); ++id) {
    Node& node = nodes[id];
    groups[node.group].nodes.push_back(id);
    for (const NodeId callee : node.calls) nodes[callee].callers.push_back(id);
    if (node.process >= processes.size()) processes.resize(node.process + 1);
    Process& process = processes[node.process];
    process.nodes.push_back(id);
    process.name += (process.name.empty() ? "" : ",") + node.name;
    process.member = process.member || node.member;
    process.elastic = (process.elastic || process.nodes.size() == 1) && groups[node.group].elastic;
  }
}

SupervisionGraph topology_of(const Plan& plan) {
  SupervisionGraph graph;
  for (const PlanGroup& group : plan.groups) {
    graph.groups.push_back({.name = group.options.name,
                            .on_failure = group.options.on_failure,
                            .ends_program = group.options.ends_program,
                            .heartbeat = group.options.heartbeat});
    const Replicas& replicas = group.options.replicas;
    SupervisionGraph::Group& added = graph.groups.back();
    added.replicas = to_string(replicas);
    added.elastic = replicas.elastic();
    const int least = std::max(added.elastic ? replicas.least : 0, group.options.on_failure.least);
    added.least = static_cast<std::size_t>(least);
  }
  for (const PlanNode& node : plan.nodes) {
    graph.nodes.push_back({.name = node.name,
                           .group = node.group,
                           .process = node.process,
                           .active = plan.groups[node.group].active,
                           .member = plan.groups[node.group].saves,
                           .calls = node.calls});
  }
  graph.complete();
  return graph;
}

}  // namespace lp::launch
