// lp top: shows again and again what the nodes of a live run use and do.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "tools/lp/command.h"
#include "tools/lp/rates.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/run_text.h"
#include "tools/lp/table.h"

namespace lp::tool {
namespace {

std::string percent(double processors) { return short_number(processors * 100); }

std::string p50(const CallRate& rate) { return short_time(rate.latency.quantile(0.5)); }
std::string p99(const CallRate& rate) { return short_time(rate.latency.quantile(0.99)); }

std::string head_of(const RunView& run, const Rates& rates, std::size_t width) {
  std::string text = ": " + std::string(enum_name(run.status.phase)) + ", " + age_text(run) + " old, " +
                     ready_text(run.status) + " nodes ready";
  text = shortened(Screen::clean(run.place.name), width - std::min(width, columns_of(text)), Cut::middle) + text + "\n";
  return text + "launcher: " + percent(rates.launcher_cpu) + " % cpu, " + memory_text(rates.launcher_memory) +
         "; all calls: " + short_number(rates.all.calls) + " calls/s, " + short_number(rates.all.errors) +
         " errors/s, " + memory_text(static_cast<std::uint64_t>(rates.all.bytes)) + "B/s\n\n";
}

std::string text_of(const RunView& run, const Rates& rates, const Screen& screen) {
  const bool hosts = std::any_of(rates.nodes.begin(), rates.nodes.end(),
                                 [&](const NodeRate& node) { return node.host != rates.nodes.front().host; });
  std::vector<Column> columns = {{"NODE", Cut::middle}, {"STATE"}};
  const bool gpus =
      std::any_of(rates.nodes.begin(), rates.nodes.end(), [](const NodeRate& node) { return !node.gpus.empty(); });
  if (hosts) columns.push_back({"HOST", Cut::middle});
  std::vector<const char*> titles = {"CPU%", "MEMORY", "CALLS IN/S", "CALLS OUT/S", "P50", "P99", "QUEUE"};
  if (gpus) titles.insert(titles.begin() + 2, {"GPU%", "GPU MEMORY"});
  for (const char* title : titles) columns.push_back({title, Cut::never, true});
  Table table(std::move(columns));
  for (const NodeRate& node : rates.nodes) {
    std::vector<std::string> cells = {Screen::clean(node.name), std::string(enum_name(node.state))};
    if (hosts) cells.push_back(Screen::clean(node.host));
    cells.push_back(node.measured ? percent(node.cpu) : "");
    cells.push_back(node.measured ? memory_text(node.memory) : "");
    if (gpus) cells.push_back(node.gpu_busy.has_value() ? percent(*node.gpu_busy) : "");
    if (gpus) cells.push_back(node.gpus.empty() ? "" : memory_text(node.gpu_memory));
    for (std::string cell : {short_number(node.in.calls), short_number(node.out.calls), p50(node.in), p99(node.in),
                             std::to_string(node.in.waiting)}) {
      cells.push_back(std::move(cell));
    }
    table.add(std::move(cells), colour_of(node.state));
  }
  const std::size_t width = screen.width() == 0 ? std::string::npos : screen.width();
  return head_of(run, rates, width) + table.text(screen.width(), screen.colours());
}

std::string json_of(const RunView& run, const Rates& rates) {
  JsonWriter json;
  json.begin_object();
  json.member("run", run.place.name);
  json.member("phase", run.status.phase);
  write_rates(json, rates);
  json.end_object();
  return std::move(json).text() + "\n";
}

void sort(Rates& rates, const std::string& by) {
  const auto by_value = [&](auto value) {
    std::stable_sort(rates.nodes.begin(), rates.nodes.end(),
                     [&](const NodeRate& a, const NodeRate& b) { return value(a) > value(b); });
  };
  if (by == "cpu") return by_value([](const NodeRate& node) { return node.cpu; });
  if (by == "memory") return by_value([](const NodeRate& node) { return node.memory; });
  if (by == "calls") return by_value([](const NodeRate& node) { return node.in.calls + node.out.calls; });
  if (by == "queue") return by_value([](const NodeRate& node) { return node.in.waiting; });
  if (!by.empty()) throw CommandError(Exit::usage, "--sort=" + by + ": expected one of cpu, memory, calls, queue");
}

}  // namespace

int top_command(const Arguments& arguments, Screen& screen) {
  const std::string by = arguments.value("sort");
  Rates none;
  sort(none, by);
  const Duration period = from_seconds(arguments.seconds("interval", 1));
  RunView run = view_of(find_run(arguments.words()[0]));
  launch::AdminClient client = connect_to(run);
  const bool once = arguments.has("once") || arguments.has("json") || !screen.is_terminal();
  try {
    MeasureRecord before = measure(client);
    do {
      if (!wait_between(client, period)) break;
      MeasureRecord after = measure(client);
      run.status = after.status;
      Rates rates = rates_of(before, after);
      sort(rates, by);
      const std::string text = arguments.has("json") ? json_of(run, rates) : text_of(run, rates, screen);
      if (!(once ? screen.write(text) : screen.draw(text))) return code_of(Exit::done);
      before = std::move(after);
    } while (!once);
    if (once) return code_of(Exit::done);
  } catch (const CommandError& error) {
    if (error.code() != Exit::not_live) throw;
  }
  run = view_of(run.place);  // it has ended
  screen.write(run.place.name + ": " + Screen::clean(sentence_of(run)) + "\n");
  return code_of(once ? Exit::not_live : Exit::done);
}

}  // namespace lp::tool
