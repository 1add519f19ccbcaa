#pragma once
// Removes the processes that a node leaves behind when it ends or is killed: the others of its process group, and those
// that it has started elsewhere. The agent has adopted those whose parents have ended. The launcher removes the
// scratch directories of a node (lp/program/scratch.h). Memory that nodes share, sockets and spilled items have no name
// in the file system, so the kernel frees them. For the agent's one thread.

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>

namespace lp::launch {

// Kills what the node that leads the process `group` has left behind: its group, and the adopted processes that have
// `mark` in their environment, except those for which `is_node` returns true.
void kill_leftovers(pid_t group, const std::string& mark, const std::function<bool(pid_t)>& is_node);

// Kills and reaps every process below this one. First it waits for those in `killed`. When they have ended, it searches
// for others, because a search reads about every process of the host. It searches in rounds, because a process that is
// being killed may still fork. `signals` is a signalfd for SIGCHLD.
void end_descendants(std::set<pid_t> killed, int signals);

// Reads all signals from a signalfd.
void drain_signals(int signals);

}  // namespace lp::launch
