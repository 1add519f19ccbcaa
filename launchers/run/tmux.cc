#include "launchers/run/tmux.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "launchers/record/node_output.h"
#include "lp/base/error.h"

extern char** environ;  // NOLINT: the C library's

namespace lp::internal {
namespace {

constexpr std::size_t kPanesOfWindow = 9;  // more panes are unreadable

bool tmux(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "tmux");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int error = posix_spawnp(&child, "tmux", &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  return error == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string quoted_for_shell(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// Replaces the characters that have a meaning in tmux names.
std::string session_name(std::string run) {
  for (char& c : run) {
    if (c == '.' || c == ':') c = '_';
  }
  return run;
}

}  // namespace

void open_panes(const std::string& run, const std::filesystem::path& directory,
                const std::vector<std::string>& processes) {
  const std::string session = session_name(run);
  std::size_t count = 0;
  for (const std::string& unit : processes) {
    const std::string log = (directory / "logs" / NodeOutput::log_name(unit)).string();
    const std::string command = "printf '\\033]2;%s\\033\\\\' " + quoted_for_shell(unit) + "; exec tail -n +1 -F " +
                                quoted_for_shell(log) + " 2>/dev/null";
    const bool first = count == 0;
    const bool window = count % kPanesOfWindow == 0;
    const bool done = first    ? tmux({"new-session", "-d", "-s", session, "-n", unit, command})
                      : window ? tmux({"new-window", "-d", "-t", session, "-n", unit, command})
                               : tmux({"split-window", "-d", "-t", session + ":{end}", command});
    if (!done)
      throw Error(ErrorKind::failed, "--terminal=tmux: tmux is not there, or refused to open a pane for " + unit);
    if (first) tmux({"set-option", "-t", session, "pane-border-status", "top"});
    if (!window) tmux({"select-layout", "-t", session + ":{end}", "tiled"});
    ++count;
  }
  std::fprintf(stderr, "lp: %s -t %s shows the nodes\n",
               std::getenv("TMUX") == nullptr ? "tmux attach" : "tmux switch-client", session.c_str());
}

}  // namespace lp::internal
