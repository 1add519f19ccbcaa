#pragma once
// Starting this binary again, and finding and killing what a process left behind. Linux only.
//
// fork_node() is for the agent, which has one thread; the rest may be used by any thread.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp::internal {

inline constexpr int kControlDescriptor = 3;  // of an agent and of a node: its control connection

// How the agent starts a node.
struct NodeProcess {
  std::vector<std::string> arguments{};    // argv
  std::vector<std::string> environment{};  // NAME=value
  std::vector<unsigned> cores{};           // where it may run; empty: anywhere
  std::string directory{};                 // to work in; empty: the agent's
  std::string program{};                   // the file to execute; empty: this binary, even if its file was replaced
  int control = -1;
  int out = -1;  // becomes standard output; -1: both stay the agent's, and so does standard input
  int err = -1;
  bool terminal = false;  // it takes the terminal of the agent: a debugger
};

// A new process in a group of its own, which is killed when this thread's process ends. The caller has one thread.
// Throws Error, with the system's reason, when it cannot be started.
pid_t fork_node(const NodeProcess& process);

// This binary again, as the agent, with `mark` in its environment; safe from any thread. Returns its pid.
pid_t spawn_agent(int control, const std::string& mark);

// A command of the search path, in a process group of its own, with `connection` as its standard input and output and
// `errors` as its standard error; safe from any thread. Returns its pid. Throws Error when it cannot be started.
pid_t spawn_command(const std::vector<std::string>& command, int connection, int errors);

// Waits for the end of a child that is about to end by itself; after `patience`, which is enough for an agent that
// kills what is left, it is told to, and then it is killed. Any thread.
void end_child(pid_t child, Duration patience = std::chrono::seconds(6));

// The environment variable by which the processes of a run, and all that they start, are known to the agent of a host,
// which has no name where there is one only: "LP_RUN=digits-...", "LP_RUN=digits-...@host". A start's mark is its run's
// name and a suffix, since runs in different directories may have one name; in pods, which share nothing, the name.
std::string run_mark(const std::string& run, const std::string& host = {});
std::string node_mark(const std::string& run, std::size_t unit, std::uint32_t incarnation);  // "LP_NODE=..."

// All processes below `ancestor`, children of children included.
std::vector<pid_t> descendants(pid_t ancestor);
// True when the process was started with `mark` in its environment.
bool has_mark(pid_t process, const std::string& mark);
// Kills every process of this user that has `mark`, until none is left or after a few rounds.
void kill_marked(const std::string& mark);

}  // namespace lp::internal
