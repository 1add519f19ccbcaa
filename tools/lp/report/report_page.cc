#include "tools/lp/report/report_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "lp/base/enums.h"
#include "lp/base/scheduler.h"
#include "lp/base/text.h"
#include "lp/draw/chart.h"
#include "tools/lp/rates.h"
#include "tools/lp/report/html.h"
#include "tools/lp/report/style.h"
#include "tools/lp/report/time_line.h"
#include "tools/lp/run_text.h"

namespace lp::tool {
namespace {

constexpr std::size_t kMostNodes = 200;  // nodes in a table
constexpr std::size_t kMostParts = 40;   // parts of the critical path
constexpr std::size_t kMostRows = 100;   // rows of other tables
constexpr std::size_t kMostCharts = 24;
constexpr std::size_t kMostLines = 16;  // lines of a chart
constexpr std::size_t kLongestText = 600;
constexpr double kTogether = 1;  // seconds from the first event of several nodes to the last

std::string percent_text(double share) { return short_number(100 * share) + " %"; }

std::string count_text(std::uint64_t count) {
  return count < 10'000 ? std::to_string(count) : short_number(static_cast<double>(count));
}

std::string more_text(std::size_t shown, std::size_t all, std::string_view what) {
  if (all <= shown) return {};
  return html_paragraph("and " + std::to_string(all - shown) + " more " + std::string(what), "soft");
}

std::string text_of(std::string text) {
  if (text.size() > kLongestText) text = text.substr(0, kLongestText) + " ...";
  return text;
}

std::string head_of(const RunHistory& history) {
  const RunView& run = history.run;
  const TimeSpan span = span_of(history);
  const std::string_view kind = !run.result.has_value()          ? "mid"
                                : run.result->success            ? "good"
                                : run.result->cause.what.empty() ? "mid"
                                                                 : "bad";
  std::string out = "<h1>" + html_text(run.place.name) + " <span class=\"state " + std::string(kind) + "\">" +
                    html_text(state_of(run)) + "</span></h1>\n<dl>";
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out += "<dt>" + html_text(name) + "</dt><dd>" + html_text(text_of(value)) + "</dd>\n";
  };
  std::set<std::string> hosts;
  for (const NodeStatus& node : run.status.nodes) hosts.insert(node.host.empty() ? run.record.host : node.host);
  add("program", run.record.program);
  add("began", local_time(span.begin));
  add("took", time_text(span.end - span.begin));
  add("why it ended", outcome_of(run));
  add("launched", "as " + run.record.launch + " on " + run.record.host);
  add("nodes", std::to_string(history.plan.nodes.size()) + " on " +
                   (hosts.size() == 1 ? *hosts.begin() : std::to_string(hosts.size()) + " hosts"));
  add("command", command_text(run.record.command));
  add("seed", std::to_string(run.record.seed));
  add("resumed from", run.record.resumed);
  add("last checkpoint", run.status.cut > 0 ? "step " + std::to_string(run.status.cut) : "");
  out += "</dl>\n";
  if (run.result.has_value() && !run.result->cause.what.empty()) {
    out += html_headline("First cause") + "<pre>" + html_lines(run.result->cause.text()) + "</pre>\n";
  }
  return out;
}

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string scalar_text(const JsonValue& value) { return value.kind() == JsonValue::Kind::null ? "" : value.text(); }

// A row for each value with a text: its name, with those of the objects and lists around it, and the text.
void add_rows(const std::string& name, const JsonValue& value, Rows& rows) {
  using Kind = JsonValue::Kind;
  const auto has_parts = [](const JsonValue& one) { return one.kind() == Kind::object || one.kind() == Kind::array; };
  const std::vector<JsonValue>& items = value.items();
  if (value.kind() == Kind::object) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      add_rows((name.empty() ? "" : name + ".") + value.keys()[i], items[i], rows);
    }
  } else if (std::any_of(items.begin(), items.end(), has_parts)) {
    for (std::size_t i = 0; i < items.size(); ++i) add_rows(name + "[" + std::to_string(i) + "]", items[i], rows);
  } else {
    std::vector<std::string> texts;
    for (const JsonValue& one : items) texts.push_back(scalar_text(one));
    std::string text = value.kind() == Kind::array ? join(texts, ", ") : scalar_text(value);
    if (!text.empty()) rows.emplace_back(name, std::move(text));
  }
}

std::string result_section(const RunHistory& history) {
  Rows rows;
  add_rows({}, history.result, rows);
  if (rows.empty()) return {};
  HtmlTable table({{"name"}, {"value"}});
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    table.add({text_of(rows[i].first), text_of(rows[i].second)});
  }
  return html_headline("The program's result") + table.html() + more_text(kMostRows, rows.size(), "values");
}

std::string time_section(const RunHistory& history, const std::vector<PathPart>& path) {
  return html_headline("Where and when") + "<figure class=\"wide\">" + time_line(history, path) + "</figure>\n" +
         "<p class=\"key soft\"><i class=\"works\"></i>works<i class=\"waits\"></i>waits for others"
         "<i class=\"ground\"></i>has nothing to do<i class=\"down\"></i>is down, or starts; "
         "a dark line: a failure; below: checkpoints</p>\n";
}

std::string path_section(const RunHistory& history, const std::vector<PathPart>& path) {
  std::string out = html_headline("The critical path");
  const double looks = looks_of(history.usage);
  const std::vector<WaitEnd> ends = ends_of(history.usage);
  double awaited = 0;
  for (const WaitEnd& end : ends) awaited += end.seconds;
  if (awaited <= 0) return out + html_paragraph("No node was seen to work for the end of the program.");
  out += html_paragraph(
      "lp has looked " + count_text(static_cast<std::uint64_t>(looks)) +
          " times at what every node did. At each look it follows the wait of each run() that the program needs to its "
          "end: from the call that it waits for to the node that handles it, and on, until a node works. A run() that "
          "works is its own end. The time from look to look is shared equally among these ends. The critical path has, "
          "for each of at most 60 parts of the run, the node with the most: it has to become faster for the program to "
          "become faster. The path is as exact as the looks are dense; waits between two looks are not seen.",
      "soft");
  HtmlTable table({{"waits ended at"}, {"doing"}, {"share", true}, {"of which others waited", true}});
  for (const WaitEnd& end : ends) {
    if (&end - ends.data() >= 12 || end.seconds < 0.005 * awaited) break;
    table.add({end.node, end.work, percent_text(end.seconds / awaited), percent_text(end.of_others / end.seconds)});
  }
  out += table.html() + "<h3>In the order of time</h3>\n";
  HtmlTable parts({{"from", true}, {"to", true}, {"node"}, {"doing"}, {"share of the waits", true}});
  const double begin = span_of(history).begin;
  std::size_t shown = 0;
  std::size_t all = 0;
  for (const PathPart& part : path) {
    if (part.node.empty()) continue;
    if (++all > kMostParts) continue;
    ++shown;
    parts.add({time_text(part.time.begin - begin), time_text(part.time.end - begin), part.node, part.work,
               percent_text(part.share)});
  }
  return out + parts.html() + more_text(shown, all, "parts");
}

std::string bar_of(const NodeSummary& node) {
  std::string out = "<span class=\"bar\">";
  for (const auto& [kind, share] :
       {std::pair("works", node.works), std::pair("waits", node.waits), std::pair("down", node.down)}) {
    const auto width = static_cast<int>(120 * std::clamp(share, 0.0, 1.0));
    if (width > 0) out += "<i class=\"" + std::string(kind) + "\" style=\"width:" + std::to_string(width) + "px\"></i>";
  }
  return out + "</span>";
}

std::string nodes_section(const std::vector<NodeSummary>& nodes, const std::vector<std::string>& stragglers) {
  HtmlTable table({{"node"},
                   {"host"},
                   {"state"},
                   {"time"},
                   {"works", true},
                   {"waits", true},
                   {"idle", true},
                   {"down", true},
                   {"processors", true},
                   {"memory", true},
                   {"queue", true},
                   {"restarts", true},
                   {"run() waits mostly for"}});
  for (const NodeSummary& node : nodes) {
    if (static_cast<std::size_t>(&node - nodes.data()) >= kMostNodes) break;
    table.add({node.status.name, node.host, std::string(enum_name(node.status.state)), "", percent_text(node.works),
               percent_text(node.waits), percent_text(node.idle), percent_text(node.down),
               node.memory > 0 ? short_number(node.processors) : "",
               node.memory > 0 ? memory_text(node.memory) + "B" : "", short_number(node.queue),
               std::to_string(restarts_of(node.status)), node.waits_for});
    table.set_html(3, bar_of(node));
  }
  std::string out = html_headline("Utilization and waiting") + table.html() +
                    more_text(kMostNodes, nodes.size(), "nodes") +
                    html_paragraph(
                        "A node works while its code goes on, also while that is blocked outside lp. The "
                        "processors and the memory are those of its process; nodes that are threads of the "
                        "launcher share them. The queue is the mean number of calls that wait for it.",
                        "soft");
  out += html_headline("Stragglers");
  if (stragglers.empty()) out += html_paragraph("No replica was much slower than the others of its group.");
  for (const std::string& sentence : stragglers) out += html_paragraph(sentence);
  return out;
}

std::string calls_section(const RunHistory& history) {
  const Traffic traffic = traffic_of(history);
  std::string out = html_headline("Calls and bytes by edge");
  if (traffic.edges.empty()) return out + html_paragraph("No calls were counted.");
  HtmlTable table({{traffic.by_group ? "from group" : "from"},
                   {"to"},
                   {"calls", true},
                   {"errors", true},
                   {"bytes", true},
                   {"time of a call, about", true}});
  for (const UsageRecord::Edge& edge : traffic.edges) {
    if (static_cast<std::size_t>(&edge - traffic.edges.data()) >= kMostRows) break;
    const double seconds = edge.timed > 0 ? edge.seconds / static_cast<double>(edge.timed) : 0;
    table.add({edge.caller.empty() ? "outside" : edge.caller, edge.callee, count_text(edge.calls),
               count_text(edge.errors), edge.bytes > 0 ? memory_text(edge.bytes) + "B" : "",
               short_time(from_seconds(seconds))});
  }
  return out + table.html() + more_text(kMostRows, traffic.edges.size(), "edges") +
         html_paragraph(
             "Only calls that leave their process have bytes. What a process has done since it was last "
             "counted, before it was killed, is missing.",
             "soft");
}

std::string restarts_section(const RunHistory& history) {
  using Kind = RunEvent::Kind;
  const std::set<Kind> wanted = {Kind::failed, Kind::restarting, Kind::ignored, Kind::left,
                                 Kind::came,   Kind::cut_failed, Kind::stalled, Kind::moved};
  std::vector<RunEvent> events;  // what happened to several nodes together is one of several nodes
  for (const RunEvent& event : history.events) {
    if (!wanted.contains(event.kind)) continue;
    RunEvent* const last = events.empty() ? nullptr : &events.back();
    const bool together = last != nullptr && last->kind == event.kind && last->text == event.text &&
                          event.time - last->time < kTogether && !event.node.empty();
    if (!together) events.push_back(event);
    if (together) last->node += ", " + event.node;
  }
  HtmlTable table({{"after", true}, {"event"}, {"node"}, {"cause"}});
  const double begin = span_of(history).begin;
  for (const RunEvent& event : events) {
    if (static_cast<std::size_t>(&event - events.data()) >= kMostRows) break;
    table.add(
        {time_text(event.time - begin), std::string(enum_name(event.kind)), text_of(event.node), text_of(event.text)});
  }
  std::string out = html_headline("Restarts and their causes");
  if (table.empty()) return out + html_paragraph("No node failed, and none was restarted.");
  return out + table.html() + more_text(kMostRows, events.size(), "events");
}

std::string curves_section(const RunHistory& history) {
  const std::vector<RunCurves> runs = {history.curves};
  const std::vector<std::string> metrics = metrics_of(runs);
  std::string out = html_headline("Curves");
  if (metrics.empty()) return out + html_paragraph("No node reported values.");
  out += "<div class=\"charts\">\n";
  std::size_t left_out = 0;
  for (Chart& chart : charts_of(runs, std::span(metrics).first(std::min(metrics.size(), kMostCharts)))) {
    if (chart.curves.size() > kMostLines) {
      left_out += chart.curves.size() - kMostLines;
      chart.curves.resize(kMostLines);
    }
    out += chart_element(chart);
  }
  out += "</div>\n" + more_text(kMostCharts, metrics.size(), "values: lp plot draws all of them");
  if (left_out > 0)
    out += html_paragraph(std::to_string(left_out) + " lines of further nodes: lp plot draws them", "soft");
  return out;
}

}  // namespace

std::string report_page(const RunHistory& history) {
  const std::vector<PathPart> path = critical_path(history.usage);
  const std::vector<NodeSummary> nodes = summaries_of(history);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      html_text(history.run.place.name) + "</title>\n<style>\n" + std::string(report_style()) + chart_style() +
      "</style></head>\n<body>\n" + head_of(history);
  for (const std::string& damage : history.damages) out += html_paragraph(damage);
  if (history.usage.intervals.empty() && history.damages.empty()) {
    out += html_paragraph(
        "What the nodes did is unknown: the launcher keeps it every few seconds, and this run or its launcher ended "
        "before that, or an older lp ran it.");
  }
  out += result_section(history) + time_section(history, path) + path_section(history, path) +
         nodes_section(nodes, stragglers_of(history, nodes)) + calls_section(history) + restarts_section(history) +
         curves_section(history);
  return out +
         html_paragraph("Made by lp report. " + std::to_string(history.usage.intervals.size()) +
                            " intervals were kept of the run" +
                            (history.usage.left_out > 0 ? "; of many nodes, some calls and waits were left out" : ""),
                        "soft") +
         "</body></html>\n";
}

}  // namespace lp::tool
