#include "launchers/run/tmux.h"

#include <cstdlib>
#include <vector>

#include "launchers/os/run_command.h"
#include "launchers/os/shell_quote.h"
#include "launchers/record/node_output.h"
#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

constexpr std::size_t kPanesOfWindow = 9;  // more panes are unreadable
constexpr auto kTimeToOpen = std::chrono::seconds(10);

void tmux(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tmux");
  run_or_throw(arguments, kTimeToOpen);
}

// Replaces the characters that have a meaning in tmux names.
std::string session_name(std::string run) {
  for (char& c : run) {
    if (c == '.' || c == ':') c = '_';
  }
  return run;
}

// Opens the pane number `count` of the session, where `command` runs. Throws Error with the message of tmux.
void open_pane(const std::string& session, const std::string& unit, const std::string& command, std::size_t count) {
  const bool window = count % kPanesOfWindow == 0;
  if (count == 0) {
    tmux({"new-session", "-d", "-s", session, "-n", unit, command});
    tmux({"set-option", "-t", session, "pane-border-status", "top"});
  } else if (window) {
    tmux({"new-window", "-d", "-t", session, "-n", unit, command});
  } else {
    tmux({"split-window", "-d", "-t", session + ":{end}", command});
  }
  if (!window) tmux({"select-layout", "-t", session + ":{end}", "tiled"});
}

}  // namespace

void open_panes(const std::string& run, const std::filesystem::path& directory,
                const std::vector<std::string>& processes) {
  const std::string session = session_name(run);
  std::size_t count = 0;
  for (const std::string& unit : processes) {
    const std::string log = (directory / "logs" / NodeOutput::log_name(unit)).string();
    const std::string command = "printf '\\033]2;%s\\033\\\\' " + shell_quote(unit) + "; exec tail -n +1 -F " +
                                shell_quote(log) + " 2>/dev/null";
    try {
      open_pane(session, unit, command, count);
    } catch (const Error& error) {
      throw Error(ErrorKind::failed, "--terminal=tmux: no pane could be opened for " + unit + ": " + error.text());
    }
    ++count;
  }
  const std::string command = std::getenv("TMUX") == nullptr ? "tmux attach" : "tmux switch-client";
  log_line(command + " -t " + session + " shows the nodes");
}

}  // namespace lp::launch
