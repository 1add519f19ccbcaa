// lp graph: draws a program. On a run's arrows it shows the records that nodes have sent, and if it is live, the calls
// per second.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "launchers/os/run_command.h"
#include "lp/base/error.h"
#include "lp/draw/draw.h"
#include "lp/program/sent_values.h"
#include "tools/lp/command.h"
#include "tools/lp/machine.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/rates.h"
#include "tools/lp/run_requests.h"

namespace lp::tool {
namespace {

constexpr auto kPlanTimeout = std::chrono::minutes(1);  // for a program to print its plan

// A file that can be executed is a program. Every other word names a run.
bool is_program(const std::string& word) {
  std::error_code error;
  return std::filesystem::is_regular_file(word, error) && access(word.c_str(), X_OK) == 0;
}

Plan plan_of_program(const std::string& binary, const Arguments& arguments) {
  refuse_other_machine(binary);
  std::vector<std::string> command = {binary.find('/') == std::string::npos ? "./" + binary : binary};
  command.insert(command.end(), arguments.words().begin() + 1, arguments.words().end());
  command.insert(command.end(), arguments.rest().begin(), arguments.rest().end());
  command.insert(command.end(), {"--dry-run", "--json"});
  const launch::Output output = launch::run(command, kPlanTimeout);
  if (output.code != 0) {
    throw Refusal(Exit::failed, binary + " --dry-run did not print its plan: is it a program that uses lp?");
  }
  return parse_plan(output.text);
}

struct GroupEdge {
  std::optional<CallRate> rate{};  // unknown for a run that is not live
  double records = 0;              // that were sent so far; only nodes that count them have some
  double bytes = 0;
};
// By the positions of both groups in the plan.
using GroupEdges = std::map<std::pair<std::size_t, std::size_t>, GroupEdge>;

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

std::string text_of(const CallRate& rate) {
  const std::string latency = short_time(rate.latency.quantile(0.5));
  return short_number(rate.calls) + "/s" + (latency.empty() ? "" : ", " + latency) +
         (rate.errors > 0 ? ", " + short_number(rate.errors) + " errors/s" : "");
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

std::string json_of(const Plan& plan, const GroupEdges& edges) {
  JsonWriter json;
  json.begin_object();
  json.key("plan");
  json.json(to_json(plan));
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
  json.end_object();
  return std::move(json).text();
}

}  // namespace

int graph_command(const Arguments& arguments, Screen& screen) {
  const std::string& word = arguments.words()[0];
  Plan plan;
  GroupEdges edges;
  if (is_program(word)) {
    plan = plan_of_program(word, arguments);
    edges = edges_of(plan);
  } else {
    if (arguments.words().size() > 1 || !arguments.rest().empty()) {
      throw Refusal(Exit::usage,
                    word + " is not a program in this directory; flags can be given only to a program, not to a run");
    }
    const RunView run = view_of(find_run(word));
    plan = plan_of(run.place);
    edges = edges_of(plan);
    add_sent(edges, plan, run.status);
    if (run.life == Life::live || run.life == Life::elsewhere) {
      launch::AdminClient client = connect_to(run);
      const MeasureRecord before = measure(client);
      const double seconds = arguments.seconds("interval", 1);
      if (wait_between(client, from_seconds(seconds))) {
        add_rates(edges, plan, rates_of(before, measure(client)));
      }
    }
  }
  const std::vector<EdgeLabel> labels = labels_of(edges);
  const std::string file = arguments.value("output");
  if (!file.empty()) write_graph(plan, file, labels);
  if (arguments.has("json")) {
    screen.write(json_of(plan, edges) + "\n");
  } else if (file.empty()) {
    screen.write(arguments.has("dot") ? to_dot(plan, labels) : to_svg(plan, labels));
  }
  return code_of(Exit::done);
}

}  // namespace lp::tool
