#pragma once
// Chooses and makes the directory of a run. Functions without state.

#include <filesystem>
#include <string>

#include "lp/base/descriptor.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

// Returns a name like "digits-20260131-235959-7f3a".
std::string new_run_name(const std::string& program);
std::string random_suffix();  // "7f3a"

// Returns the run's directory below $XDG_STATE_HOME/lp/runs, or below ~/.local/state/lp/runs.
std::filesystem::path default_run_directory(const std::string& run);

// Whether the run in this directory has not ended, and its launcher lives. On a file system without locks, nothing is
// known, and the answer is no.
bool is_going_on(const std::filesystem::path& run);
// Error::failed when the run in this directory has not ended, and its launcher lives. Else `lp rm` keeps it as long as
// the result is open; others may hold it, too. On a file system without locks, nothing is known or kept.
Descriptor hold_ended(const std::filesystem::path& run);

// Links a run that is elsewhere into the default directory, so that tools find it. Removes links whose runs no longer
// exist. Does nothing where the directory cannot be written.
void register_run(const std::string& run, const std::filesystem::path& directory);

// Makes the directory, which only this user may read, with logs/ and checkpoints/ in it, and locks it. The lock holds
// as long as the returned descriptor is open. Throws Error, with the remedy, when the directory cannot be written, when
// another launch holds it, and when it holds another run. `own` means that its contents belong to this run, which
// continues there; the call then waits until `until` for an earlier start to release it.
Descriptor make_run_directory(const std::filesystem::path& directory, bool own = false, Time until = {});

// Whether `taken` is still the lock of this directory: nobody has removed the directory since, or put another one
// there.
bool is_still_taken(const Descriptor& taken, const std::filesystem::path& directory);

// Removes the directory with all that is in it, if `taken` is its lock: without that, it is another run's.
void remove_run_directory(const Descriptor& taken, const std::filesystem::path& directory);

// Directories in a run's directory must not make that one again, incomplete and for all users to read, when somebody
// removed it. The first function makes the missing directories from `root`, which must be there, to `directory`, which
// is below it; who writes there finds out when that fails. The second one returns the nearest directory above `path`
// that exists.
void make_directories_below(const std::filesystem::path& root, const std::filesystem::path& directory);
std::filesystem::path existing_ancestor(const std::filesystem::path& path);

// Removes what the nodes of runs in the default place, whose launchers were killed, have left in scratch directories.
// Jobs may begin again, so theirs stay.
void remove_abandoned_scratch();

// Removes the files that describe a run that never began. The directory stays, because it may belong to another run.
void forget_run(const std::filesystem::path& directory);

}  // namespace lp::launch
