#include "tools/lp/run_text.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <utility>

#include "launchers/os/shell_quote.h"
#include "lp/base/enums.h"
#include "lp/base/scheduler.h"

namespace lp::tool {

std::string short_duration(double seconds) {
  const auto whole = static_cast<long>(std::max(seconds, 0.0));
  if (whole < 100) return std::to_string(whole) + "s";
  if (whole < 100 * 60L) return std::to_string(whole / 60) + "m";
  if (whole < 48 * 3600L) return std::to_string(whole / 3600) + "h";
  return std::to_string(whole / 86400) + "d";
}

std::string age_text(const RunView& run) {
  if (run.record.began <= 0) return "";
  return short_duration(static_cast<double>(wall_clock()) / 1e9 - run.record.began);
}

std::string ready_text(const RunStatus& status) {
  if (status.nodes.empty()) return {};  // the run has not begun
  using State = NodeStatus::State;
  const auto serves = [](const NodeStatus& node) {
    return node.state == State::ready || node.state == State::running || node.state == State::finished;
  };
  return std::to_string(std::count_if(status.nodes.begin(), status.nodes.end(), serves)) + "/" +
         std::to_string(status.nodes.size());
}

bool is_over(const RunView& run) { return run.life == Life::ended || run.life == Life::lost; }

std::string ends_text(const RunView& run) {
  if (!is_over(run)) return {};
  using State = NodeStatus::State;
  constexpr std::array<std::pair<State, const char*>, 4> kEnds = {{{State::failed, " failed"},
                                                                   {State::absent, " had left the run"},
                                                                   {State::finished, " had finished"},
                                                                   {State::ended, " ended with the run"}}};
  std::string text;
  for (const auto& [state, words] : kEnds) {
    const auto count = std::count_if(run.status.nodes.begin(), run.status.nodes.end(),
                                     [end = state](const NodeStatus& node) { return node.state == end; });
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + words;
  }
  return text;
}

std::string colour_of(const RunView& run) {
  if (run.life == Life::lost || run.silent) return "31";
  if (run.life != Life::ended || !run.result.has_value()) return "";
  return run.result->success ? "32" : run.result->cause.what.empty() ? "33" : "31";
}

std::string colour_of(NodeStatus::State state) {
  switch (state) {
    case NodeStatus::State::failed: return "31";
    case NodeStatus::State::absent:
    case NodeStatus::State::waiting:
    case NodeStatus::State::starting: return "33";
    case NodeStatus::State::finished:
    case NodeStatus::State::ended: return "2";
    case NodeStatus::State::ready:
    case NodeStatus::State::running: break;
  }
  return "";
}

std::vector<std::string> troubles_of(const RunView& run) {
  std::vector<std::string> troubles;
  if (run.life == Life::ended || run.life == Life::lost) return troubles;
  for (const NodeStatus& node : run.status.nodes) {
    if (node.work.empty()) continue;
    troubles.push_back(node.name + " does not answer calls: it has been in " + node.work + ", for " +
                       short_duration(node.work_seconds));
  }
  if (!run.status.unsaved.empty()) troubles.push_back(run.status.unsaved);
  if (!run.status.stalled.empty()) troubles.push_back(run.status.stalled);
  return troubles;
}

std::string local_time(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm local{};
  localtime_r(&whole, &local);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
  return text.data();
}

std::string command_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + launch::shell_quote_if_needed(word);
  }
  return text;
}

void write_run(JsonWriter& json, const RunView& run, std::string_view trouble) {
  json.begin_object();
  json.member("name", run.place.name);
  json.member("directory", run.place.directory.string());
  json.member("state", trouble.empty() ? state_of(run) : "unreadable");
  json.member("life", run.life);
  json.member("outcome", trouble.empty() ? outcome_of(run) : std::string(trouble));
  json.member("record", run.record);
  json.member("status", run.status);
  json.key("result");
  if (const auto text = run.result.has_value() ? read_text(run.place.directory / "result.json") : std::nullopt) {
    json.json(std::string_view(*text).substr(0, text->find_last_not_of('\n') + 1));  // includes the report
  } else {
    json.null();
  }
  json.end_object();
}

}  // namespace lp::tool
