// lp status: shows the state of a run and its nodes, once or until the run has ended.

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "tools/lp/command.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/run_text.h"
#include "tools/lp/runs.h"
#include "tools/lp/table.h"

namespace lp::tool {
namespace {

constexpr auto kRequestTimeout = std::chrono::seconds(10);  // for a live run to accept a request

// The values that the node has reported: "loss 0.31 accuracy 0.9".
std::string values_text(const NodeStatus& node) {
  std::string text;
  std::array<char, 32> number{};
  for (const auto& [name, value] : node.values) {
    std::snprintf(number.data(), number.size(), "%.4g", value);
    text += (text.empty() ? "" : " ") + Screen::clean(name) + " " + number.data();
  }
  return text;
}

std::string status_text(const RunView& run, const Screen& screen) {
  std::string text = ": " + state_of(run);
  if (const std::string age = age_text(run); !age.empty()) {
    text += run.result.has_value() ? " after " + short_duration(run.result->seconds) : ", " + age + " old";
  }
  const std::string ends = ends_text(run);
  const bool succeeded = run.result.has_value() && run.result->success;
  if (succeeded) {
    text += ", all nodes have ended";
  } else if (ends.empty() && !run.status.nodes.empty()) {
    text += ", " + ready_text(run.status) + " nodes ready";
  }
  if (run.status.cut > 0) text += ", last checkpoint at step " + std::to_string(run.status.cut);
  const std::size_t width = screen.width() == 0 ? std::string::npos : screen.width();
  const std::size_t room = width - std::min(width, columns_of(text));
  text = shortened(Screen::clean(run.place.name), room, Cut::middle) + text + "\n";
  if (const std::string outcome = outcome_of(run); !outcome.empty()) {
    text += shortened("  " + Screen::clean(outcome), width) + "\n";
  }
  if (!ends.empty() && !succeeded) {
    text += shortened("  of " + std::to_string(run.status.nodes.size()) + " nodes " + ends, width) + "\n";
  }
  for (const std::string& trouble : troubles_of(run)) {
    for (const std::string& line : wrapped(Screen::clean(trouble), width)) text += line + "\n";
  }
  Table table({{"NODE", Cut::middle},
               {"STATE"},
               {"TRIES", Cut::never, true},
               {"PID", Cut::never, true},
               {"STEP", Cut::never, true},
               {"VALUES", Cut::end},
               {"LAST FAILURE", Cut::end}});
  for (const NodeStatus& node : run.status.nodes) {
    const std::string step = node.step == 0    ? ""
                             : node.total == 0 ? std::to_string(node.step)
                                               : std::to_string(node.step) + "/" + std::to_string(node.total);
    table.add({Screen::clean(node.name), std::string(enum_name(node.state)), std::to_string(node.incarnation),
               node.pid == 0 ? "" : std::to_string(node.pid), step, values_text(node), Screen::clean(node.text)},
              colour_of(node.state));
  }
  return text + "\n" + table.text(screen.width(), screen.colours());
}

std::string shown(const RunView& run, const Screen& screen, bool json) {
  if (!json) return status_text(run, screen);
  JsonWriter writer;
  write_run(writer, run);
  return std::move(writer).text() + "\n";
}

// Asks the run, because its files here, if there are any, are a little behind or those of another host.
void ask_there(RunView& run) {
  launch::AdminClient client = try_to_connect(run);
  if (client.open()) run.status = from_json<RunStatus>(ask(client, R"({"ask":"status"})"));
}

int watch(RunView run, Screen& screen, bool json) {
  launch::AdminClient client = try_to_connect(run);
  std::string before;
  for (Event never; !client.open() && run.job.has_value() && !run.job->ended(); client = try_to_connect(run)) {
    if (before != std::exchange(before, state_of(run) + outcome_of(run)) && !screen.draw(shown(run, screen, json))) {
      return code_of(Exit::done);
    }
    never.wait(after(launch::kJobPeriod));
    run = view_of(run.place);
  }
  client.ask(R"({"ask":"follow"})", after(kRequestTimeout));
  while (const auto line = client.next(kNever)) {
    const JsonValue value = JsonValue::parse(*line);
    if (const JsonValue* error = value.find("error")) throw CommandError(Exit::failed, error->text());
    run.status = from_json<RunStatus>(value);
    if (!screen.draw(shown(run, screen, json))) return code_of(Exit::done);
  }
  run = view_of(run.place);
  screen.draw(shown(run, screen, json));
  return code_of(run.result.has_value() && run.result->success ? Exit::done : Exit::failed);
}

}  // namespace

int status_command(const Arguments& arguments, Screen& screen) {
  RunView run = view_of(find_run(arguments.words()[0]));
  const bool json = arguments.has("json");
  if (arguments.has("watch")) return watch(run, screen, json);
  if (run.life == Life::elsewhere) ask_there(run);
  screen.write(shown(run, screen, json));
  return code_of(Exit::done);
}

}  // namespace lp::tool
