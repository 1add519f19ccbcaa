#pragma once
// Where a run keeps its files, and how they are written so that a reader never sees half of one. Functions without
// state.

#include <filesystem>
#include <string>
#include <string_view>

#include "lp/base/descriptor.h"
#include "lp/base/scheduler.h"

namespace lp::internal {

// "digits-20260131-235959-7f3a"
std::string new_run_name(const std::string& program);
std::string random_suffix();  // "7f3a"

// Below $XDG_STATE_HOME/lp/runs, or ~/.local/state/lp/runs.
std::filesystem::path default_run_directory(const std::string& run);

// Makes a run that is elsewhere known below the default directory, by a link; links whose runs are gone are removed.
// Nothing happens where that cannot be written.
void register_run(const std::string& run, const std::filesystem::path& directory);

// Makes the directory, which is for this user alone, with logs/ and checkpoints/ in it, and takes it: nobody else can
// as long as what is returned is open. Throws Error, saying what to do, when it cannot be written, when another launch
// has taken it, and when it holds another run. `own`: what it holds is of this run, which goes on there, as soon as an
// earlier start has left it; that is waited for until `until`.
Descriptor make_run_directory(const std::filesystem::path& directory, bool own = false, Time until = {});

// Replaces the file, so that a reader never sees half of it. False when it cannot be; `error` says why, and what was
// there before stays.
bool write_file(const std::filesystem::path& path, std::string_view text, std::string& error);

// Writes all of it, or leaves errno and returns false.
// Nothing of the run began: its directory may be another one's.
void forget_run(const std::filesystem::path& directory);

bool write_all(int fd, std::string_view text);

}  // namespace lp::internal
