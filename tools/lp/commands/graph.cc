// lp graph: draws a program. On a run's arrows it shows the records that nodes have sent, and if it is live, the calls
// per second.

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "launchers/os/run_command.h"
#include "lp/base/error.h"
#include "lp/draw/draw.h"
#include "tools/lp/command.h"
#include "tools/lp/elf_machine.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/rates.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/views/group_edges.h"

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
    throw CommandError(Exit::failed, binary + " --dry-run did not print its plan: is it a program that uses lp?");
  }
  return parse_plan(output.text);
}

std::string json_of(const Plan& plan, const GroupEdges& edges) {
  JsonWriter json;
  json.begin_object();
  json.key("plan");
  json.json(to_json(plan));
  write_edges(json, plan, edges);
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
      throw CommandError(
          Exit::usage,
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
