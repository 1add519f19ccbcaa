#pragma once
// Starts this binary again, and finds and kills the processes that a process left behind. Linux only.
//
// fork_node() is for the agent, which has one thread. Any thread may use the rest.

#include <sys/types.h>

#include <string>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp::launch {

inline constexpr int kControlDescriptor = 3;  // the control connection of an agent or of a node

// The settings with which the agent starts a node.
struct NodeProcess {
  std::vector<std::string> arguments{};    // argv
  std::vector<std::string> environment{};  // NAME=value
  std::vector<unsigned> cores{};           // cores on which it may run; empty: all
  std::string directory{};                 // its working directory; empty: the agent's
  std::string program{};                   // the file to execute; empty: this binary, even if its file was replaced
  int control = -1;
  int out = -1;  // becomes standard output; -1: it keeps the agent's standard input, output and error
  int err = -1;
  bool terminal = false;  // it takes the agent's terminal: it is a debugger
};

// Forks a process with a process group of its own. The kernel kills it when this thread's process ends. The caller must
// have one thread. Throws Error, with the system's reason, when the process cannot be started.
pid_t fork_node(const NodeProcess& process);

// Starts this binary again as the agent, with `mark` in its environment. Any thread may call it. Returns the pid.
pid_t spawn_agent(int control, const std::string& mark);

// The descriptors of this process that become the standard input, output and error of a command.
struct StandardStreams {
  int input = 0;
  int output = 1;
  int errors = 2;
};

// Starts a command of the search path in a process group of its own, and returns at once (command.h waits for its end).
// Any thread may call it. Returns the pid. Throws Error when the command cannot be started.
pid_t spawn_command(const std::vector<std::string>& command, const StandardStreams& streams);

// Waits for a child that is about to end by itself. After `patience`, which is long enough for an agent to kill its
// remaining processes, it sends SIGTERM and then SIGKILL. Any thread.
void end_child(pid_t child, Duration patience = std::chrono::seconds(6));

// The environment variable that marks the processes of a run on one host, and all that they start: "LP_RUN=digits-...",
// "LP_RUN=digits-...@host". The agent finds them by it. `host` is empty where there is only one. A start's mark is the
// run's name and a suffix, because runs in different directories may have the same name. In pods, which share nothing,
// it is the name alone.
std::string run_mark(const std::string& run, const std::string& host = {});
std::string node_mark(const std::string& run, std::size_t process, std::uint32_t incarnation);  // "LP_NODE=..."

// All descendants of `ancestor`: its children, their children and so on.
std::vector<pid_t> descendants(pid_t ancestor);
// Returns true when the process was started with `mark` in its environment.
bool has_mark(pid_t process, const std::string& mark);
// Kills every process of this user that has `mark`. Stops when none is left, or after a few rounds.
void kill_marked(const std::string& mark);

}  // namespace lp::launch
