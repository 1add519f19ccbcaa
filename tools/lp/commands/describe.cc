// lp describe: shows everything about one run: its launch, the hosts of its nodes, the events, and why it failed.

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/record/node_output.h"
#include "lp/base/enums.h"
#include "lp/base/text.h"
#include "tools/lp/command.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/run_text.h"
#include "tools/lp/table.h"
#include "tools/lp/views/events.h"

namespace lp::tool {
namespace {

constexpr std::size_t kFirstEvents = 12;  // so many first events of a long list are shown, and as many last ones
constexpr std::size_t kLastEvents = 28;

// Folds successive cuts into one line, unless all events are wanted.
std::vector<RunEvent> with_folded_cuts(const std::vector<RunEvent>& events) {
  std::vector<RunEvent> folded;
  std::size_t cuts = 0;
  for (const RunEvent& event : events) {
    cuts = event.kind == RunEvent::Kind::cut ? cuts + 1 : 0;
    if (cuts > 1) folded.pop_back();
    folded.push_back(event);
    if (cuts > 1) folded.back().text += ", and " + std::to_string(cuts - 1) + " before it";
  }
  return folded;
}

// Returns true for failures and their consequences, which people look for first.
bool matters(const RunEvent& event) {
  using Kind = RunEvent::Kind;
  return event.kind != Kind::starting && event.kind != Kind::ready && event.kind != Kind::finished &&
         event.kind != Kind::cut;
}

// The indices of the events to show: all of a short list; of a long one the first, the last, and the important ones,
// which have a limit, too.
std::vector<std::size_t> shown_events(const std::vector<RunEvent>& events) {
  std::vector<std::size_t> matter;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (matters(events[i])) matter.push_back(i);
  }
  const auto is_shown = [](std::size_t i, std::size_t size) { return i < kFirstEvents || i + kLastEvents >= size; };
  std::set<std::size_t> shown;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (is_shown(i, events.size())) shown.insert(i);
  }
  for (std::size_t i = 0; i < matter.size(); ++i) {
    if (is_shown(i, matter.size())) shown.insert(matter[i]);
  }
  return {shown.begin(), shown.end()};
}

std::string facts(const RunView& run, const Plan& plan, const Screen& screen) {
  const RunRecord& record = run.record;
  constexpr std::size_t kNames = 17;  // columns
  const std::size_t room = screen.width() == 0 ? std::string::npos : screen.width() - std::min(screen.width(), kNames);
  std::string text;
  const auto add = [&](std::string name, const std::string& value) {
    if (value.empty()) return;
    for (const std::string& line : wrapped(Screen::clean(value), room)) {
      name.resize(kNames, ' ');
      text += name + line + "\n";
      name.clear();
    }
  };
  add("run", run.place.name);
  add("state", state_of(run) + (run.result.has_value() ? " after " + short_duration(run.result->seconds) : ""));
  add("why", outcome_of(run));
  for (const std::string& trouble : troubles_of(run)) add("trouble", trouble);
  add("program", record.program);
  add("launched", (record.began > 0 ? local_time(record.began) : "") + ", as " + record.launch + " on " + record.host +
                      ", process " + std::to_string(record.pid));
  add("command", command_text(record.command));
  add("seed", std::to_string(record.seed));
  add("resumed from", record.resumed);
  add("last checkpoint", run.status.cut > 0 ? "step " + std::to_string(run.status.cut) : "");
  add("plan", std::to_string(plan.nodes.size()) + " nodes, at most " + std::to_string(plan.processes) + " processes");
  add("directory", run.place.directory.string());
  return text;
}

std::string policy_text(const FailurePolicy& policy) {
  const std::string name(enum_name(policy.action));
  return policy.action == FailurePolicy::Action::restart ? name + " " + std::to_string(policy.budget) + "x" : name;
}

std::string groups_text(const Plan& plan, const Screen& screen) {
  Table table({{"GROUP", Cut::middle},
               {"NODES", Cut::never, true},
               {"TYPE", Cut::end},
               {"CALLS", Cut::end},
               {"ON FAILURE"},
               {"NEEDS", Cut::end}});
  for (const PlanGroup& group : plan.groups) {
    std::vector<std::string> needs;
    if (group.options.cpus > 0) needs.push_back(to_json(group.options.cpus) + " cpu");
    if (group.options.gpus > 0) needs.push_back(to_json(group.options.gpus) + " gpu");
    if (group.options.memory > 0) needs.push_back(std::to_string(group.options.memory >> 20) + " MiB");
    if (!group.options.device.empty()) needs.push_back("device " + Screen::clean(group.options.device));
    table.add({Screen::clean(group.options.name), to_string(group.options.replicas), Screen::clean(group.type),
               Screen::clean(join(calls_of(plan, nodes_of(plan, group)), ", ")), policy_text(group.options.on_failure),
               join(needs, ", ")});
  }
  return table.text(screen.width(), screen.colours());
}

std::string nodes_text(const RunView& run, const Plan& plan, const Screen& screen) {
  Table table({{"NODE", Cut::middle},
               {"HOST", Cut::middle},
               {"PROCESS", Cut::never, true},
               {"PID", Cut::never, true},
               {"STATE"},
               {"TRIES", Cut::never, true},
               {"RESTARTS", Cut::never, true}});
  for (std::size_t i = 0; i < run.status.nodes.size(); ++i) {
    const NodeStatus& node = run.status.nodes[i];
    table.add({Screen::clean(node.name), Screen::clean(node.host.empty() ? run.record.host : node.host),
               i < plan.nodes.size() ? std::to_string(plan.nodes[i].process) : "",
               node.pid == 0 ? "" : std::to_string(node.pid), std::string(enum_name(node.state)),
               std::to_string(node.incarnation), std::to_string(node.restarts)},
              colour_of(node.state));
  }
  return table.text(screen.width(), screen.colours());
}

std::string timeline_text(const RunView& run, std::vector<RunEvent> events, const Screen& screen, bool all) {
  if (!all) events = with_folded_cuts(events);
  std::vector<std::size_t> shown = shown_events(events);
  if (all) {
    shown.resize(events.size());
    std::iota(shown.begin(), shown.end(), std::size_t{0});
  }
  Table table({{"AFTER", Cut::never, true}, {"NODE", Cut::middle}, {"EVENT"}, {"TEXT", Cut::end}});
  std::size_t next = 0;
  for (const std::size_t i : shown) {
    if (i > next) table.add({"", "...", "", std::to_string(i - next) + " events are not shown; --all shows them"});
    next = i + 1;
    const RunEvent& event = events[i];
    std::array<char, 32> after{};
    std::snprintf(after.data(), after.size(), "%.3f s", event.time - run.record.began);
    std::string text = event.text;
    if (event.incarnation > 1) {
      text = "incarnation " + std::to_string(event.incarnation) + (text.empty() ? "" : ": " + text);
    }
    table.add({after.data(), Screen::clean(event.node), std::string(enum_name(event.kind)), Screen::clean(text)},
              event.kind == RunEvent::Kind::failed || event.kind == RunEvent::Kind::cut_failed ? "31" : "");
  }
  return table.text(screen.width(), screen.colours());
}

std::string cause_text(const RunView& run) {
  if (!run.result.has_value() || run.result->cause.what.empty()) return {};
  std::string text = "\nFIRST CAUSE\n";
  std::string rest = run.result->cause.text();
  for (std::size_t begin = 0; begin < rest.size();) {
    const std::size_t end = std::min(rest.find('\n', begin), rest.size());
    text += launch::printable(std::string_view(rest).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return text;
}

}  // namespace

int describe_command(const Arguments& arguments, Screen& screen) {
  const RunView run = view_of(find_run(arguments.words()[0]));
  const Plan plan = plan_of(run.place);
  std::vector<RunEvent> events = events_of(run.place);
  if (arguments.has("json")) {
    JsonWriter json;
    json.begin_object();
    json.key("run");
    write_run(json, run);
    json.key("plan");
    json.json(to_json(plan));
    json.member("events", events);
    json.end_object();
    screen.write(std::move(json).text() + "\n");
    return code_of(Exit::done);
  }
  screen.write(facts(run, plan, screen) + "\n" + groups_text(plan, screen) + "\n" + nodes_text(run, plan, screen) +
               "\n" + timeline_text(run, std::move(events), screen, arguments.has("all")) + cause_text(run));
  return code_of(Exit::done);
}

}  // namespace lp::tool
