#include "lp/program/plan_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "lp/base/json.h"
#include "lp/base/text.h"
#include "lp/program/program.h"

namespace lp::internal {
namespace {

using Problems = std::vector<std::string>;

constexpr double kRounding = 1e-9;  // in sums of parts

bool is_whole(double gpus) { return std::abs(gpus - std::round(gpus)) < kRounding; }
bool is_part_or_whole(double gpus) { return !(gpus > 1) || is_whole(gpus); }

// Checks a name that becomes the name of files, of processes and of hosts.
void check_name(const char* what, const std::string& name, Problems& problems) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  constexpr std::string_view kRest = ".-";
  if (name.empty()) {
    problems.push_back(std::string(what) + " has no name: give it one");
    return;
  }
  const bool fits = std::all_of(name.begin(), name.end(), [&](char c) {
    return kFirst.find(c) != std::string_view::npos || kRest.find(c) != std::string_view::npos;
  });
  if (!fits || kFirst.find(name[0]) == std::string_view::npos) {
    problems.push_back(std::string(what) + " is named " + quote(name) +
                       ": a name has letters, digits, '_', '-' and '.', and does not begin with '-' or '.'");
  } else if (name.size() > kLongest) {
    problems.push_back(std::string(what) + " is named " + quote(name) + ": a name has " + std::to_string(kLongest) +
                       " characters at most");
  }
}

void check_options(const GroupSpec& group, const NodeSpec* first, const GroupOptions& options, Problems& problems) {
  const std::string who = "group '" + options.name + "'";
  const auto problem = [&](const std::string& text) { problems.push_back(who + " " + text); };
  const auto not_negative = [&](const char* what, bool fine) {
    if (!fine) problem(std::string("has ") + what + " below 0");
  };
  if (options.name != group.options.name || options.replicas != group.options.replicas) {
    problem("is group '" + group.options.name + "' with " + to_string(group.options.replicas) +
            " replicas in the program: a placement cannot change the name or the replicas");
  }
  if (first != nullptr && first->name == group.options.name && group.options.replicas != 1) {
    problem("is one node, but its options have " + to_string(group.options.replicas) + " replicas: use Program::group");
  } else if (const Replicas& replicas = group.options.replicas; replicas.least < 1 || replicas.least > replicas.most) {
    problem("has " + to_string(replicas) + " replicas, but needs at least 1" +
            (replicas.elastic() ? ", and the least number before the most" : ""));
  }
  not_negative("cpus", options.cpus >= 0);
  not_negative("gpus", options.gpus >= 0);
  if (!is_part_or_whole(options.gpus)) {
    problem("has gpus " + to_json(options.gpus) + ": give a whole number, or less than 1 for a part of one GPU");
  }
  not_negative("a heartbeat", options.heartbeat >= Duration::zero());
  not_negative("a restart budget", options.on_failure.budget >= 0);
  not_negative("a backoff", options.on_failure.backoff >= Duration::zero());
  not_negative("a least number of nodes", options.on_failure.least >= 0);
  if (const int least = options.on_failure.least; least > std::max(group.options.replicas.most, 0)) {
    problem("needs " + std::to_string(least) + " nodes after failures, but has " + to_string(options.replicas));
  }
  for (const auto& [variable, value] : options.environment) {
    if (variable.empty() || variable.find('=') != std::string::npos || variable.find('\0') != std::string::npos ||
        value.find('\0') != std::string::npos) {
      problem("sets the environment variable " + quote(variable) + ", which is not a valid name");
    }
  }
  if (options.ends_program && first != nullptr && first->type != nullptr && !first->type->active) {
    problem("has ends_program, but its nodes never finish: " + std::string(first->type->name) + " has no run()");
  }
}

// Returns the name of the group to which a node's name belongs.
std::string_view group_name(std::string_view node) { return node.substr(0, node.find('/')); }

void check_edges(const Program& program, const GroupSpec& group, Problems& problems) {
  const NodeSpec& node = program.nodes()[group.first];  // all nodes of a group have the same edges
  std::map<std::string, std::vector<std::string>> dangling;
  for (const std::string& edge : node.edges) {
    if (!program.find(edge)) dangling[std::string(group_name(edge))].push_back(edge);
    if (edge == group.options.name) {
      problems.push_back("node '" + edge +
                         "' has a handle of itself, and a node that calls itself waits for ever: call " +
                         "the method directly");
    }
  }
  for (const auto& [group_of_target, edges] : dangling) {
    std::string text = "'" + group.options.name + "' has a handle of '" + edges.front() + "'";
    if (edges.size() > 1) text += " and of " + std::to_string(edges.size() - 1) + " more like it";
    problems.push_back(text + ", which this program does not have" + program.instead_of(group_of_target));
  }
}

// Nodes that share a process have one environment.
void check_processes(const Program& program, const std::vector<GroupOptions>& groups, const std::vector<bool>& together,
                     Problems& problems) {
  struct Setting {
    std::string value{};
    std::size_t group = 0;
  };
  std::map<std::pair<std::size_t, std::string>, Setting> settings;  // by process and variable
  std::set<std::string> reported;
  for (std::size_t i = 0; const std::size_t process : processes_of(program, together)) {
    const NodeSpec& node = program.nodes()[i++];
    for (const auto& [variable, value] : groups[node.group].environment) {
      const auto& first = settings.try_emplace({process, variable}, Setting{value, node.group}).first->second;
      if (first.value == value) continue;
      std::string text = "'" + groups[first.group].name + "' and '" + groups[node.group].name +
                         "' share a process, but differ in the environment variable " + quote(variable);
      if (reported.insert(text).second) problems.push_back(std::move(text));
    }
  }
}

// A process has whole GPUs, or a part of one. Nodes that are threads of one process take what there is.
void check_gpus(const Program& program, const std::vector<GroupOptions>& groups, const std::vector<bool>& together,
                Problems& problems) {
  std::map<std::size_t, double> gpus;  // by process
  const std::vector<std::size_t> processes = processes_of(program, together);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const std::size_t group = program.nodes()[i].group;
    if (together.empty() || !together[group]) gpus[processes[i]] += groups[group].gpus;
  }
  std::set<std::size_t> reported;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const double sum = gpus[processes[i]];
    const GroupOptions& group = groups[program.nodes()[i].group];
    if (sum < 1 + kRounding || is_whole(sum) || !is_part_or_whole(group.gpus) || !reported.insert(processes[i]).second)
      continue;
    problems.push_back("the process of '" + program.nodes()[i].name + "' needs " + to_json(sum) +
                       " gpus for all of its nodes: it can have a whole number, or a part of one GPU");
  }
}

// Returns how many of the group's nodes a host must have room for.
int least_of(const GroupSpec& group) { return std::min(group.options.replicas.least, group.size); }

// The resources that the host must have for a group.
struct HostNeed {
  GroupOptions each{};
  int nodes = 0;
};

// "server: 2 x 1, worker: 4 x 0.5"
template <class Text>
std::string list(const std::vector<HostNeed>& needs, Text text) {
  std::vector<std::string> parts;
  for (const HostNeed& need : needs) {
    const std::string each = text(need.each);
    if (each != "0") parts.push_back(need.each.name + ": " + std::to_string(need.nodes) + " x " + each);
  }
  return join(parts, ", ");
}

void check_host(const std::vector<HostNeed>& needs, const HostResources& host, Problems& problems) {
  double cpus = 0;
  double gpus = 0;
  double memory = 0;
  for (const HostNeed& need : needs) {
    cpus += need.nodes * need.each.cpus;
    gpus += need.nodes * need.each.gpus;
    memory += need.nodes * static_cast<double>(need.each.memory);
  }
  if (host.cpus && cpus > *host.cpus + kRounding) {
    problems.push_back("the host has " + to_json(*host.cpus) + " cpus, but the program needs " + to_json(cpus) + " (" +
                       list(needs, [](const GroupOptions& group) { return to_json(group.cpus); }) + ")");
  }
  if (host.gpus && gpus > *host.gpus + kRounding) {
    problems.push_back("the host has " + std::to_string(*host.gpus) + " gpus, but the program needs " + to_json(gpus) +
                       " (" + list(needs, [](const GroupOptions& group) { return to_json(group.gpus); }) + ")" +
                       (host.no_gpus.empty() ? "" : ": " + host.no_gpus));
  }
  if (host.memory && memory > static_cast<double>(*host.memory)) {
    const std::string sum = memory < 0x1p63 ? memory_text(static_cast<std::uint64_t>(memory)) : "more than there is";
    problems.push_back("the host has " + memory_text(*host.memory) + " of memory, but the program needs " + sum + " (" +
                       list(needs, [](const GroupOptions& group) { return memory_text(group.memory); }) + ")");
  }
}

}  // namespace

std::vector<std::size_t> processes_of(const Program& program, const std::vector<bool>& together) {
  std::set<std::size_t> joined;  // keys are NodeSpec::process, as those of `numbers`
  for (const NodeSpec& node : program.nodes()) {
    if (!together.empty() && together[node.group]) joined.insert(node.process);
  }
  std::map<std::size_t, std::size_t> numbers;
  std::vector<std::size_t> processes;
  for (const NodeSpec& node : program.nodes()) {
    const std::size_t process = joined.contains(node.process) ? *joined.begin() : node.process;
    processes.push_back(numbers.try_emplace(process, numbers.size()).first->second);
  }
  return processes;
}

std::vector<std::string> problems_of(const Program& program, const std::vector<GroupOptions>& groups,
                                     const PlanOptions& options) {
  Problems problems;
  check_name("the program", program.name(), problems);
  if (program.groups().empty())
    problems.push_back("the program has no node: add one with Program::add or Program::group");
  if (groups.size() != program.groups().size()) {
    problems.push_back("it has " + std::to_string(program.groups().size()) + " groups, but options are given for " +
                       std::to_string(groups.size()));
    return problems;
  }
  bool active = false;
  bool defined = true;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const GroupSpec& group = program.groups()[i];
    const NodeSpec* first = group.size > 0 ? &program.nodes()[group.first] : nullptr;
    check_name("a group", group.options.name, problems);
    check_options(group, first, groups[i], problems);
    if (first == nullptr) {
      defined = false;  // a group without nodes: whether they would have run() is unknown
    } else if (first->type == nullptr) {
      problems.push_back("'" + group.options.name + "' is declared but never defined: call Program::define");
      defined = false;
    } else {
      active = active || first->type->active;
      check_edges(program, group, problems);
    }
  }
  if (!active && defined && !groups.empty() && !options.serve_forever) {
    problems.push_back(
        "no node of the program has run(), so it would never end: give a node a run(), or allow that with --serve");
  }
  check_processes(program, groups, options.together, problems);
  check_gpus(program, groups, options.together, problems);
  std::vector<HostNeed> needs;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (options.on_host.empty() || options.on_host[i]) needs.push_back({groups[i], least_of(program.groups()[i])});
  }
  check_host(needs, options.host, problems);
  return problems;
}

}  // namespace lp::internal
