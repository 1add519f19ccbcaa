#pragma once
// What the threads of a node do outside lp, as far as their kernel knows it. Pure functions.

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "launchers/os/thread_states.h"

namespace lp::launch {

using ThreadsById = std::map<int, const ThreadState*>;  // those of a process

bool is_stopped(const ThreadState& thread);
// "read() of /a", "the kernel": where the thread is blocked.
std::string place_of(const ThreadState& thread);
// "; its thread pool is in read() of /a": the threads that use files of a disk, a few of them; empty: none.
std::string files_text(const ThreadsById& threads);
// The thread that writes a checkpoint, or seems to; null: none does. `known`: threads that do something else.
const ThreadState* checkpoint_writer(const ThreadsById& threads, const std::set<int>& known);

}  // namespace lp::launch
