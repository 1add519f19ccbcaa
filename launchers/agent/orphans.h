#pragma once
// Ends processes below an agent that it did not start itself: nodes have started them. The agent has adopted those
// whose parents have ended. For the agent's one thread.

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>

namespace lp::launch {

// Kills the adopted processes that have `mark` in their environment, except those for which `is_node` returns true.
void kill_orphans(const std::string& mark, const std::function<bool(pid_t)>& is_node);

// Kills and reaps every process below this one. First it waits for those in `killed`. When they have ended, it searches
// for others, because a search reads about every process of the host. It searches in rounds, because a process that is
// being killed may still fork. `signals` is a signalfd for SIGCHLD.
void end_descendants(std::set<pid_t> killed, int signals);

// Reads all signals from a signalfd.
void drain_signals(int signals);

}  // namespace lp::launch
