// lp rm: removes runs that have ended, with their logs and checkpoints.

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "lp/base/descriptor.h"
#include "lp/base/json.h"
#include "lp/base/scheduler.h"
#include "lp/program/scratch.h"
#include "tools/lp/command.h"
#include "tools/lp/run_text.h"
#include "tools/lp/runs.h"

namespace lp::tool {
namespace {

// Why the run must stay; empty: it has ended.
std::string obstacle(const RunView& run) {
  if (run.life != Life::ended && run.life != Life::lost)
    return (run.silent ? "it does not answer" : "it is " + state_of(run)) + ": stop it first with `lp stop`";
  const Descriptor lock(open((run.place.directory / "lock").c_str(), O_RDWR | O_CLOEXEC));
  if (lock && flock(lock.number(), LOCK_EX | LOCK_NB) != 0) return "a launch is using its directory";
  return {};
}

// A run whose files cannot be read may be removed by its name, if no launcher has its lock and it was no job.
RunView named(const RunLocation& place) {
  try {
    return view_of(place);
  } catch (const CommandError& error) {
    if (error.code() != Exit::failed || std::filesystem::exists(place.directory / launch::kJobNumber)) throw;
    return {.place = place};
  }
}

// A run in another place has a link to it here. Its nodes may have left files elsewhere.
void remove_directory(const std::filesystem::path& directory) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(directory, error);
  if (!error) {
    for (const ScratchLife life : {ScratchLife::run, ScratchLife::cuts}) remove_scratch(target, life);
    std::filesystem::remove_all(target, error);
  }
  if (!error) std::filesystem::remove(directory, error);
  if (error) throw CommandError(Exit::failed, directory.string() + " cannot be removed: " + error.message());
}

}  // namespace

int rm_command(const Arguments& arguments, Screen& screen) {
  if (arguments.words().empty() != arguments.has("older-than")) {
    throw CommandError(Exit::usage, "give either the names of runs, or --older-than=TIME");
  }
  std::vector<RunView> runs;
  std::string unreadable;
  for (const std::string& word : arguments.words()) {
    runs.push_back(named(find_run(word)));
    if (const std::string why = obstacle(runs.back()); !why.empty()) {
      throw CommandError(Exit::failed, runs.back().place.name + " is not removed: " + why);
    }
  }
  if (arguments.has("older-than")) {
    const double latest = static_cast<double>(wall_clock()) / 1e9 - arguments.seconds("older-than", 0);
    for (const RunLocation& place : all_runs()) {
      try {
        RunView run = view_of(place);
        if (run.record.began <= latest && obstacle(run).empty()) runs.push_back(std::move(run));
      } catch (const CommandError& error) {
        if (error.code() != Exit::failed) throw;
        unreadable +=
            (unreadable.empty() ? "" : "; ") + place.name + " stays, because its age is unknown: " + error.what();
      }
    }
  }
  std::vector<std::string> removed;
  for (const RunView& run : runs) {
    remove_directory(run.place.directory);
    removed.push_back(run.place.name);
    if (!arguments.has("json")) screen.write(Screen::clean(run.place.name) + " is removed\n");
  }
  if (arguments.has("json")) screen.write(to_json(removed) + "\n");
  if (!unreadable.empty()) throw CommandError(Exit::failed, unreadable + "; `lp rm` with its name removes it");
  return code_of(Exit::done);
}

}  // namespace lp::tool
