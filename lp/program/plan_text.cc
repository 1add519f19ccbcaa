// Formats a plan for people and for tools.

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "lp/program/plan.h"

namespace lp {
namespace {

constexpr std::size_t kWidth = 100;

// "4 nodes", "1 node".
std::string counted(std::size_t count, const std::string& what, const char* plural = "s") {
  return std::to_string(count) + " " + what + (count == 1 ? "" : plural);
}

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  const auto size = static_cast<std::size_t>(end - digits.data());
  return std::string(digits.size() - size, '0').append(digits.data(), size);
}

// Appends the words to `text`, with line breaks where needed; every line begins with `indent`. A word that is too long
// for a line is cut.
void append_words(std::string& text, const std::string& indent, const std::vector<std::string>& words) {
  std::size_t column = 0;
  for (const std::string& word : words) {
    if (column == 0 || column + 1 + word.size() > kWidth) {
      if (column != 0) text += '\n';
      text += indent;
      column = indent.size();
    } else {
      text += ' ';
      ++column;
    }
    const std::size_t room = kWidth - column;
    text += word.size() <= room ? word : word.substr(0, room - 3) + "...";
    column += std::min(word.size(), room);
  }
  text += '\n';
}

// Returns a list as words, "a," "b," "c", after an optional first word.
std::vector<std::string> list(const std::string& first, const std::vector<std::string>& items,
                              const char* between = ",") {
  std::vector<std::string> words;
  if (!first.empty()) words.push_back(first);
  for (std::size_t i = 0; i < items.size(); ++i) words.push_back(items[i] + (i + 1 < items.size() ? between : ""));
  return words;
}

std::string policy(const FailurePolicy& policy) {
  switch (policy.action) {
    case FailurePolicy::Action::stop: return "a failure stops the program";
    case FailurePolicy::Action::ignore:
      return policy.least == 0 ? "a failure is ignored"
                               : "a failure is ignored while " + std::to_string(policy.least) + " or more are left";
    case FailurePolicy::Action::restart: break;
  }
  return "restarted up to " + counted(static_cast<std::size_t>(policy.budget), "time") + " after a failure";
}

std::vector<std::string> needs(const GroupOptions& options) {
  std::vector<std::string> needs;
  if (options.cpus > 0) needs.push_back(to_json(options.cpus) + (options.cpus == 1 ? " cpu" : " cpus"));
  if (options.gpus > 0) needs.push_back(to_json(options.gpus) + (options.gpus == 1 ? " gpu" : " gpus"));
  if (options.memory > 0) needs.push_back(memory_text(options.memory) + " of memory");
  return needs;
}

void append_group(std::string& text, const Plan& plan, const PlanGroup& group) {
  const std::string indent(4, ' ');
  const GroupOptions& options = group.options;
  std::vector<std::string> title{options.name};
  if (group.size > 1) title.push_back("x " + to_string(options.replicas));
  title.push_back("(" + group.type + ")");
  if (!group.launcher.empty()) title.push_back("by " + group.launcher);
  append_words(text, "  ", title);

  std::vector<std::string> traits{group.active ? "runs" : "serves"};
  if (options.ends_program) traits.push_back("its end ends the program");
  if (!options.device.empty()) traits.push_back("device " + options.device);
  if (group.saves) traits.push_back("saved in checkpoints");
  traits.push_back(policy(options.on_failure));
  if (options.heartbeat > Duration::zero()) {
    traits.push_back("must answer within " + to_json(to_seconds(options.heartbeat)) + " s");
  }
  append_words(text, indent, list("", traits, ";"));
  if (const auto resources = needs(options); !resources.empty()) {
    append_words(text, indent, list(group.size > 1 ? "each needs" : "needs", resources));
  }
  if (!options.environment.empty()) {
    std::vector<std::string> settings;
    for (const auto& [variable, value] : options.environment) settings.push_back(variable + "=" + value);
    append_words(text, indent, list("environment", settings));
  }
  if (const auto calls = calls_of(plan, nodes_of(plan, group)); !calls.empty()) {
    append_words(text, indent, list("calls", calls));
  }
}

// Which nodes each host would have, in the order of the hosts' first processes.
void append_hosts(std::string& text, const Plan& plan) {
  std::vector<std::string> hosts;
  for (const std::string& host : plan.hosts) {
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
  }
  if (!hosts.empty()) text += "\nif each host has what its nodes need:\n";
  for (const std::string& host : hosts) {
    std::vector<std::string> names;
    for (const PlanNode& node : plan.nodes) {
      if (plan.hosts[node.process] == host) names.push_back(node.name);
    }
    append_words(text, "  ", list(host.empty() ? "not yet assigned to a host:" : "on " + host + ":", names));
  }
}

}  // namespace

std::vector<std::string> calls_of(const Plan& plan, std::span<const PlanNode> nodes) {
  std::vector<std::set<NodeId>> callees(plan.groups.size());
  for (const PlanNode& node : nodes) {
    for (const NodeId callee : node.calls) callees[plan.nodes[callee].group].insert(callee);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < callees.size(); ++i) {
    if (callees[i].size() == static_cast<std::size_t>(plan.groups[i].size)) {
      names.push_back(plan.groups[i].options.name);
    } else {
      for (const NodeId callee : callees[i]) names.push_back(plan.nodes[callee].name);
    }
  }
  return names;
}

std::string to_text(const Plan& plan) {
  std::string text;
  append_words(
      text, "",
      {plan.program + ":", counted(plan.nodes.size(), "node"), "in", counted(plan.groups.size(), "group") + ",",
       "at most", counted(plan.processes, "process", "es") + ",", "fingerprint", hex(plan.fingerprint)});
  for (const PlanGroup& group : plan.groups) {
    text += '\n';
    append_group(text, plan, group);
  }
  std::vector<std::vector<std::string>> processes(plan.processes);
  for (const PlanNode& node : plan.nodes) processes[node.process].push_back(node.name);
  for (bool first = true; const std::vector<std::string>& names : processes) {
    if (names.size() < 2) continue;
    if (std::exchange(first, false)) text += '\n';
    append_words(text, "  ", list("in one process:", names));
  }
  append_hosts(text, plan);
  return text;
}

std::string to_json(const Plan& plan) {
  JsonWriter json;
  json.begin_object();
  json.member("program", plan.program);
  json.member("fingerprint", hex(plan.fingerprint));
  json.member("processes", plan.processes);
  json.key("groups");
  json.begin_array();
  for (const PlanGroup& group : plan.groups) {
    const GroupOptions& options = group.options;
    json.begin_object();
    json.member("name", options.name);
    json.member("type", group.type);
    if (!group.launcher.empty()) json.member("launcher", group.launcher);
    json.member("replicas", group.size);
    if (options.replicas.elastic()) json.member("least", options.replicas.least);
    json.member("active", group.active);
    json.member("saves", group.saves);
    json.member("ends_program", options.ends_program);
    json.member("cpus", options.cpus);
    json.member("gpus", options.gpus);
    json.member("memory", options.memory);
    if (!options.device.empty()) json.member("device", options.device);
    json.member("environment", options.environment);
    json.member("heartbeat", to_seconds(options.heartbeat));
    json.key("on_failure");
    json.begin_object();
    json.member("action", options.on_failure.action);
    if (options.on_failure.action == FailurePolicy::Action::restart) {
      json.member("budget", options.on_failure.budget);
      json.member("backoff", to_seconds(options.on_failure.backoff));
    } else if (options.on_failure.least > 0) {
      json.member("least", options.on_failure.least);
    }
    json.end_object();
    json.end_object();
  }
  json.end_array();
  json.key("nodes");
  json.begin_array();
  for (const PlanNode& node : plan.nodes) {
    json.begin_object();
    json.member("name", node.name);
    json.member("group", plan.groups[node.group].options.name);
    json.member("index", node.index);
    json.member("process", node.process);
    if (!plan.hosts.empty() && !plan.hosts[node.process].empty()) json.member("host", plan.hosts[node.process]);
    json.key("calls");
    json.begin_array();
    for (const NodeId callee : node.calls) json.string(plan.nodes[callee].name);
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

}  // namespace lp
