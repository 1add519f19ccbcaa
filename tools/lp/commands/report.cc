// lp report: describes what happened in a run, as one page that can be mailed.

#include <filesystem>
#include <string>

#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "tools/lp/command.h"
#include "tools/lp/report/report_page.h"
#include "tools/lp/report/run_history.h"

namespace lp::tool {
namespace {

std::string report_json(const RunHistory& history) {
  JsonWriter json;
  json.begin_object();
  json.member("run", history.run.place.name);
  json.member("critical_path", critical_path(history.usage));
  json.member("ends", ends_of(history.usage));
  json.member("looks", looks_of(history.usage));
  const std::vector<NodeSummary> nodes = summaries_of(history);
  json.member("nodes", nodes);
  json.member("stragglers", stragglers_of(history, nodes));
  json.member("edges", traffic_of(history).edges);
  json.member("events", history.events);
  json.end_object();
  return std::move(json).text() + "\n";
}

}  // namespace

int report_command(const Arguments& arguments, Screen& screen) {
  const std::filesystem::path file = arguments.value("output");
  if (!file.empty()) check_output(file);
  const RunHistory history = history_of(find_run(arguments.words()[0]));
  for (const std::string& damage : history.damages) log_line(damage);
  if (!file.empty()) write_file(file, report_page(history));
  if (arguments.has("json")) {
    screen.write(report_json(history));
  } else if (file.empty()) {
    screen.write(report_page(history));
  }
  return code_of(Exit::done);
}

}  // namespace lp::tool
