// lp why: explains what a live run does and waits for. lp stack: shows the native stacks of a node's threads.

#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "tools/lp/command.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/run_text.h"
#include "tools/lp/table.h"
#include "tools/lp/why/diagnosis.h"
#include "tools/lp/why/gather.h"

namespace lp::tool {
namespace {

constexpr std::size_t kMostWaiters = 6;  // whose names are shown

// The lines of the nodes in `shown`.
std::string nodes_text(const WaitGraph& graph, const WaitsRecord& record, const std::set<std::string>& shown,
                       const Screen& screen) {
  Table table({{"NODE", Cut::middle}, {"CODE", Cut::middle}, {"DOES", Cut::end}});
  for (const NodeStatus& node : record.status.nodes) {
    if (!shown.contains(node.name)) continue;
    bool any = false;
    const auto add = [&](const std::string& code, const std::string& does, std::string colour = {}) {
      table.add({any ? "" : Screen::clean(node.name), Screen::clean(code), Screen::clean(does)}, std::move(colour));
      any = true;
    };
    for (const Activity& one : graph.activities) {
      if (one.node != node.name) continue;
      add(one.caller.empty() ? one.work : one.work + " for " + one.caller,
          one.in_lp || one.open || one.next.has_value() ? one.does : one.does + lasts(one.seconds));
    }
    if (const auto queue = graph.queues.find(node.name); queue != graph.queues.end()) {
      add("", std::to_string(queue->second) + (any ? " more calls wait" : " calls come"));
    }
    if (!any)
      add("", node.state == NodeStatus::State::running || node.state == NodeStatus::State::ready
                  ? "waits for calls"
                  : "is " + std::string(enum_name(node.state)));
  }
  return table.text(screen.width(), screen.colours());
}

std::string diagnosis_text(const Diagnosis& diagnosis, std::size_t width) {
  std::string text;
  for (const std::string& line :
       wrapped(Screen::clean(std::string(enum_name(diagnosis.kind)) + ": " + diagnosis.text), width)) {
    text += line + "\n";
  }
  if (diagnosis.chain.size() > 1) {
    for (std::size_t i = 0; i < diagnosis.chain.size(); ++i) {
      text += (i == 0 ? "    " : "    -> ") + Screen::clean(diagnosis.chain[i]) + "\n";
    }
  }
  const std::vector<std::string>& waiters = diagnosis.waiters;
  if (waiters.size() > 1 && diagnosis.kind != Diagnosis::Kind::starved) {
    text += "    " + std::to_string(waiters.size()) + " nodes wait because of it" +
            (waiters.size() <= kMostWaiters ? ": " + Screen::clean(join(waiters, ", ")) : "") + "\n";
  }
  return text + "\n";
}

std::string json_of(const RunView& run, const Evidence& evidence, const WaitGraph& graph,
                    const std::vector<Diagnosis>& found, const std::set<std::string>& shown) {
  JsonWriter json;
  json.begin_object();
  json.member("run", run.place.name);
  json.member("phase", evidence.samples.back().status.phase);
  json.member("seconds", evidence.samples.back().time - evidence.samples.front().time);
  write_findings(json, graph, found, shown);
  json.end_object();
  return std::move(json).text() + "\n";
}

// The nodes that `words` name; without a name, all.
std::set<std::string> shown_nodes(const Plan& plan, const std::vector<std::string>& words) {
  std::set<std::string> names;
  if (words.size() < 2) {
    for (const PlanNode& node : plan.nodes) names.insert(node.name);
    return names;
  }
  for (const NodeId node : find_nodes(plan, words[1])) names.insert(plan.nodes[node].name);
  return names;
}

}  // namespace

int why_command(const Arguments& arguments, Screen& screen) {
  const Duration duration = from_seconds(arguments.seconds("for", 1));
  RunView run = view_of(find_run(arguments.words()[0]));
  Plan plan = plan_of(run.place);
  const std::set<std::string> shown = shown_nodes(plan, arguments.words());
  const bool all = arguments.words().size() < 2;
  launch::AdminClient client = connect_to(run);
  const Evidence evidence = collect_evidence(client, std::move(plan), duration);
  const WaitGraph graph = wait_graph(evidence.plan, evidence.samples.back());
  std::vector<Diagnosis> found = find_troubles(client, evidence);
  if (!all) std::erase_if(found, [&](const Diagnosis& one) { return !concerns(one, evidence.plan, shown); });
  if (arguments.has("json")) {
    screen.write(json_of(run, evidence, graph, found, shown));
    return code_of(Exit::done);
  }
  run.status = evidence.samples.back().status;
  std::string text = Screen::clean(run.place.name) + ": " + std::string(enum_name(run.status.phase)) + ", " +
                     ready_text(run.status) + " nodes ready\n\n";
  const std::size_t width = screen.width() == 0 ? std::string::npos : screen.width();
  for (const Diagnosis& diagnosis : found) text += diagnosis_text(diagnosis, width);
  if (found.empty()) text += all ? "Nothing is stuck.\n\n" : "Nothing that concerns it is stuck.\n\n";
  screen.write(text + nodes_text(graph, evidence.samples.back(), shown, screen));
  return code_of(Exit::done);
}

int stack_command(const Arguments& arguments, Screen& screen) {
  const RunView run = view_of(find_run(arguments.words()[0]));
  const std::string node = find_node(plan_of(run.place), arguments.words()[1]);
  launch::AdminClient client = connect_to(run);
  JsonWriter request;
  request.begin_object();
  request.member("ask", "stack");
  request.member("node", node);
  request.end_object();
  const JsonValue answer = ask(client, std::move(request).text());
  const std::string stack = answer.find("stack")->text();
  if (!arguments.has("json")) {
    std::istringstream lines(stack);
    std::string text;
    for (std::string line; std::getline(lines, line);) text += Screen::clean(line) + "\n";
    screen.write(text);
    return code_of(Exit::done);
  }
  JsonWriter json;
  json.begin_object();
  json.member("run", run.place.name);
  json.member("node", node);
  json.member("stack", stack);
  json.end_object();
  screen.write(std::move(json).text() + "\n");
  return code_of(Exit::done);
}

}  // namespace lp::tool
