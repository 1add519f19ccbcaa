#include "tools/lp/report/run_history.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "lp/base/error.h"
#include "tools/lp/command_error.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/rates.h"
#include "tools/lp/views/events.h"

namespace lp::tool {
namespace {

constexpr std::size_t kMostEdges = 100;  // between nodes, in a table
constexpr std::size_t kMostPathParts = 60;
constexpr double kMuchLonger = 2;   // as often as the median of its group waits end at a straggler
constexpr double kLeastEnds = 0.1;  // and in this share of the time

UsageRecord usage_of(const RunLocation& place, std::vector<std::string>& damages) {
  const std::filesystem::path file = place.directory / launch::kUsageFile;
  try {
    return read_record<UsageRecord>(file).value_or(UsageRecord());
  } catch (const Error& error) {
    damages.push_back("what its nodes did is not known: " + file.string() + " is damaged: " + error.text());
    return {};
  }
}

JsonValue result_of(const RunLocation& place) {
  struct File {
    JsonValue report{};
  };
  return read_record<File>(place.directory / "result.json").value_or(File()).report;
}

// The seconds that a look of the interval stands for.
double seconds_of_look(const UsageRecord::Interval& interval) {
  return interval.looks > 0 ? (interval.end - interval.begin) / interval.looks : 0;
}

double seconds_of(const UsageRecord& usage) {
  double seconds = 0;
  for (const UsageRecord::Interval& interval : usage.intervals) seconds += seconds_of_look(interval) * interval.looks;
  return seconds;
}

// Steps that each node has made per second of the time that was looked at, also those that it repeated.
double steps_per_second(const UsageRecord& usage, std::size_t node, double seconds) {
  double steps = 0;
  std::uint64_t last = 0;
  for (const UsageRecord::Interval& interval : usage.intervals) {
    const std::uint64_t step = interval.nodes[node].step;
    steps += static_cast<double>(step >= last ? step - last : 0);
    last = step;
  }
  return seconds > 0 ? steps / seconds : 0;
}

// The equal parts of the run for its critical path. Their ends have seconds in place of looks. An interval is in the
// part that has its middle.
std::vector<UsageRecord::Interval> parts_of(const UsageRecord& usage) {
  std::vector<UsageRecord::Interval> parts;
  if (usage.intervals.empty()) return parts;
  const double begin = usage.intervals.front().begin;
  const double length = (usage.intervals.back().end - begin) / static_cast<double>(kMostPathParts);
  double number = -1;  // the last part has it
  for (UsageRecord::Interval interval : usage.intervals) {
    interval.nodes.clear();
    for (UsageRecord::End& end : interval.ends) end.looks *= seconds_of_look(interval);
    const double middle = (interval.begin + interval.end) / 2 - begin;
    const double its_number = length > 0 ? std::floor(middle / length) : 0;
    if (its_number == number) {
      launch::add_interval(parts.back(), interval);
    } else {
      parts.push_back(std::move(interval));
      number = its_number;
    }
  }
  return parts;
}

// The share of the time before the node first had a process that answered: it came later. With further incarnations,
// the looks at which it has none are no work of its either. Else it was only slow to answer.
double absent_share(const UsageRecord& usage, std::size_t node, const NodeSummary& summary) {
  if (summary.status.incarnation > 1) return summary.down;
  const double seconds = seconds_of(usage);
  double before = 0;
  bool came = false;
  for (const UsageRecord::Interval& interval : usage.intervals) {
    const UsageRecord::NodeUse& use = interval.nodes[node];
    came = came || use.works + use.waits + use.idle > 0;
    if (!came) before += use.down * seconds_of_look(interval);
  }
  return seconds > 0 ? before / seconds : 0;
}

std::string group_name(const Plan& plan, const std::string& node) {
  const auto at = std::find_if(plan.nodes.begin(), plan.nodes.end(), [&](const auto& one) { return one.name == node; });
  return at == plan.nodes.end() ? node : plan.groups[at->group].options.name;
}

std::map<std::string, Share> shares_of(const RunHistory& history, const std::vector<NodeSummary>& nodes) {
  const UsageRecord& usage = history.usage;
  std::map<std::string, Share> shares;
  const double seconds = seconds_of(usage);
  for (std::size_t i = 0; i < usage.nodes.size(); ++i) {
    const auto at =
        std::find_if(nodes.begin(), nodes.end(), [&](const auto& one) { return one.status.name == usage.nodes[i]; });
    if (at == nodes.end()) continue;
    shares[usage.nodes[i]] = {.works = at->works,
                              .kept = at->waits,
                              .away = at->idle + absent_share(usage, i, *at),
                              .looks = looks_of(usage),
                              .steps = steps_per_second(usage, i, seconds),
                              .seconds = seconds};
  }
  for (const UsageRecord::Edge& edge : usage.edges) {
    const bool mates = group_name(history.plan, edge.caller) == group_name(history.plan, edge.callee);
    shares[edge.caller].calls[mates ? std::string() : edge.callee] += static_cast<double>(edge.calls);
    shares[edge.caller].units += static_cast<double>(edge.calls);
    shares[edge.callee].units += static_cast<double>(edge.calls);
  }
  return shares;
}

// The sentence of a replica at which the waits of others end much more often than at its mates.
std::string late_text(const std::vector<const NodeSummary*>& group) {
  if (group.size() < 3) return {};
  std::vector<const NodeSummary*> sorted = group;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto* a, const auto* b) { return a->ends_of_others > b->ends_of_others; });
  const double most = sorted.front()->ends_of_others;
  const double median = sorted[sorted.size() / 2]->ends_of_others;
  if (most < kLeastEnds || most < kMuchLonger * median) return {};
  return "Others waited for " + sorted.front()->status.name + " " + short_number(100 * most) +
         " % of the time; for the median of its group, " + short_number(100 * median) + " %.";
}

}  // namespace

RunHistory history_of(const RunLocation& place) {
  RunHistory history{.run = view_of(place), .plan = plan_of(place), .events = events_of(place)};
  history.usage = usage_of(place, history.damages);
  history.result = result_of(place);
  for (UsageRecord::Interval& interval : history.usage.intervals) interval.nodes.resize(history.usage.nodes.size());
  try {
    history.curves = {place.name, launch::read_curves(place.directory)};
    for (std::string& damage : launch::damaged_curves(place.directory)) history.damages.push_back(std::move(damage));
  } catch (const Error& error) {
    throw CommandError(Exit::failed, error.text());
  }
  return history;
}

TimeSpan span_of(const RunHistory& history) {
  TimeSpan span{history.run.record.began, history.run.record.began};
  if (!history.events.empty()) {  // an earlier start of a job that was requeued
    span.begin = std::min(span.begin > 0 ? span.begin : history.events.front().time, history.events.front().time);
    span.end = std::max(span.end, history.events.back().time);
  }
  if (!history.usage.intervals.empty()) span.end = std::max(span.end, history.usage.intervals.back().end);
  if (history.run.result.has_value()) span.end = std::max(span.end, history.run.result->ended);
  return span;
}

std::vector<NodeSummary> summaries_of(const RunHistory& history) {
  const UsageRecord& usage = history.usage;
  std::map<std::string, NodeSummary> found;
  const double seconds = seconds_of(usage);
  for (std::size_t i = 0; i < usage.nodes.size(); ++i) {
    NodeSummary& node = found[usage.nodes[i]];
    for (const UsageRecord::Interval& interval : usage.intervals) {
      const UsageRecord::NodeUse& use = interval.nodes[i];
      const double share = seconds > 0 ? seconds_of_look(interval) / seconds : 0;
      node.works += use.works * share;
      node.waits += use.waits * share;
      node.idle += use.idle * share;
      node.down += use.down * share;
      node.queue += static_cast<double>(use.queue) * share;
      node.processors += seconds > 0 ? use.cpu / seconds : 0;
      node.memory = std::max(node.memory, use.memory);
    }
  }
  for (const WaitEnd& end : ends_of(usage)) {
    found[end.node].ends_of_others += seconds > 0 ? end.of_others / seconds : 0;
  }
  std::map<std::string, std::uint64_t> all_waits;
  std::map<std::string, const UsageRecord::Wait*> most;
  for (const UsageRecord::Wait& wait : usage.waits) {
    all_waits[wait.node] += wait.looks;
    const UsageRecord::Wait*& longest = most[wait.node];
    if (longest == nullptr || wait.looks > longest->looks) longest = &wait;
  }
  std::vector<NodeSummary> all;
  for (const NodeStatus& status : history.run.status.nodes) {
    NodeSummary node = found[status.name];
    node.status = status;
    node.host = status.host.empty() ? history.run.record.host : status.host;
    if (const auto at = most.find(status.name); at != most.end()) {
      const double share = static_cast<double>(at->second->looks) / static_cast<double>(all_waits[status.name]);
      node.waits_for = at->second->waits_for + " (" + short_number(100 * share) + " %)";
    }
    all.push_back(std::move(node));
  }
  return all;
}

double looks_of(const UsageRecord& usage) {
  double looks = 0;
  for (const UsageRecord::Interval& interval : usage.intervals) looks += interval.looks;
  return looks;
}

std::vector<WaitEnd> ends_of(const UsageRecord& usage) {
  std::map<std::pair<std::string, std::string>, WaitEnd> sums;
  for (const UsageRecord::Interval& interval : usage.intervals) {
    for (const UsageRecord::End& end : interval.ends) {
      WaitEnd& sum = sums[{end.node, end.work}];
      sum.node = end.node;
      sum.work = end.work;
      sum.seconds += end.looks * seconds_of_look(interval);
      sum.of_others += end.of_others * seconds_of_look(interval);
    }
  }
  std::vector<WaitEnd> ends;
  for (auto& [key, end] : sums) ends.push_back(std::move(end));
  std::stable_sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return ends;
}

std::vector<PathPart> critical_path(const UsageRecord& usage) {
  std::vector<UsageRecord::Interval> parts;  // neighbours with one node are one part
  std::vector<std::string> nodes;
  for (const UsageRecord::Interval& interval : parts_of(usage)) {
    std::map<std::string, double> ends;
    for (const UsageRecord::End& end : interval.ends) ends[end.node] += end.looks;
    const auto most =
        std::max_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string node = most == ends.end() ? std::string() : most->first;
    if (!parts.empty() && nodes.back() == node) {
      launch::add_interval(parts.back(), interval);
    } else {
      parts.push_back(interval);
      nodes.push_back(std::move(node));
    }
  }
  std::vector<PathPart> path;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    PathPart part{.time = {parts[i].begin, parts[i].end}, .node = nodes[i]};
    double all = 0;
    for (const UsageRecord::End& end : parts[i].ends) {
      all += end.looks;
      if (end.node != part.node) continue;
      if (part.work.empty()) part.work = end.work;  // the longest come first
      part.share += end.looks;
    }
    if (all > 0) part.share /= all;
    path.push_back(std::move(part));
  }
  return path;
}

std::vector<std::string> stragglers_of(const RunHistory& history, const std::vector<NodeSummary>& nodes) {
  const std::map<std::string, Share> shares = shares_of(history, nodes);
  const bool lasting =
      std::any_of(shares.begin(), shares.end(), [](const auto& one) { return one.second.seconds >= kLastingSeconds; });
  std::vector<std::string> sentences;
  for (const PlanGroup& group : history.plan.groups) {
    std::vector<std::string> names;
    std::vector<const NodeSummary*> members;
    for (const PlanNode& node : nodes_of(history.plan, group)) {
      names.push_back(node.name);
      const auto at =
          std::find_if(nodes.begin(), nodes.end(), [&](const auto& one) { return one.status.name == node.name; });
      if (at != nodes.end()) members.push_back(&*at);
    }
    const auto slow = lasting ? straggler_of(names, shares) : std::nullopt;
    if (slow.has_value()) sentences.push_back(slow->text() + ".");
    if (std::string late = late_text(members); !late.empty()) sentences.push_back(std::move(late));
  }
  return sentences;
}

Traffic traffic_of(const RunHistory& history) {
  Traffic traffic{.by_group = history.usage.edges.size() > kMostEdges};
  std::map<std::pair<std::string, std::string>, UsageRecord::Edge> sums;
  for (const UsageRecord::Edge& edge : history.usage.edges) {
    const auto name = [&](const std::string& node) { return traffic.by_group ? group_name(history.plan, node) : node; };
    UsageRecord::Edge& sum = sums[{name(edge.caller), name(edge.callee)}];
    sum.caller = name(edge.caller);
    sum.callee = name(edge.callee);
    sum.calls += edge.calls;
    sum.errors += edge.errors;
    sum.bytes += edge.bytes;
    sum.seconds += edge.seconds;
    sum.timed += edge.timed;
  }
  for (auto& [key, edge] : sums) traffic.edges.push_back(std::move(edge));
  std::stable_sort(traffic.edges.begin(), traffic.edges.end(), [](const auto& a, const auto& b) {
    return std::pair(a.bytes, a.calls) > std::pair(b.bytes, b.calls);
  });
  return traffic;
}

}  // namespace lp::tool
