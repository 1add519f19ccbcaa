#include "launchers/observation/absent_nodes.h"

#include <algorithm>

#include "lp/base/enums.h"

namespace lp::launch {

using NodeEnd = Activity::End;

std::optional<Activity> absent_node(const NodeStatus& status) {
  using State = NodeStatus::State;
  if (status.state == State::finished || status.state == State::ended) return std::nullopt;
  std::string does = status.given_up ? "has been given up: the program goes on without it"
                                     : "has no process now: it is " + std::string(enum_name(status.state));
  const bool restarts = !status.given_up && (status.incarnation > 1 || status.state == State::failed);
  if (restarts) does += ", and waits for its restart";
  if (!status.text.empty()) does += "; its last failure: " + status.text;
  return Activity{.node = status.name, .does = does, .end = NodeEnd::down, .restarts = restarts, .detail = status.text};
}

Activity starting_node(const NodeStatus& status, const ThreadsById* threads) {
  std::string does = "starts";
  const bool restarts = status.incarnation > 1;
  if (restarts) {
    does = "restarts, as incarnation " + std::to_string(status.incarnation) + ", and is not constructed yet";
  }
  if (threads != nullptr) does += files_text(*threads);
  if (!status.text.empty()) does += "; its last failure: " + status.text;
  return {.node = status.name, .does = does, .end = NodeEnd::down, .restarts = restarts, .detail = status.text};
}

Activity silent_node(const std::string& node, const WaitsRecord::Process& process, const std::string& key,
                     const ThreadsById* threads) {
  if (process.stopped_agent != 0) {
    const std::string agent = std::to_string(process.stopped_agent);
    return {.node = node,
            .does = "is not seen, because its agent, process " + agent +
                    " of this host, is stopped by a signal (SIGSTOP or SIGTSTP); `kill -CONT " + agent +
                    "` lets it go on",
            .end = NodeEnd::stopped,
            .detail = "agent " + agent};
  }
  if (threads == nullptr) {
    const std::string host = process.host.empty() ? "its host" : "its host " + process.host;
    return {.node = node,
            .does = "does not answer, and neither does the agent of " + host + ": the host is cut off, or stands still",
            .end = NodeEnd::cut_off,
            .detail = process.host};
  }
  const bool stopped =
      std::all_of(threads->begin(), threads->end(), [](const auto& one) { return is_stopped(*one.second); });
  if (!stopped) {
    return {.node = node, .does = "does not answer, though its host does", .end = NodeEnd::silent, .detail = key};
  }
  const bool traced = threads->begin()->second->state == "t";
  return {.node = node,
          .does = traced ? "is stopped by a debugger"
                         : "is stopped by a signal (SIGSTOP or SIGTSTP); `kill -CONT " + std::to_string(process.pid) +
                               "` lets it go on",
          .end = NodeEnd::stopped,
          .detail = key};
}

}  // namespace lp::launch
