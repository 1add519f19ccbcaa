#include "launchers/record/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <system_error>

#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/scheduler.h"
#include "lp/program/scratch.h"

namespace lp::launch {
namespace {

// the wait between two attempts to lock; flock has no deadline
constexpr auto kLockPeriod = std::chrono::milliseconds(100);

[[noreturn]] void refuse(const std::filesystem::path& directory, const std::string& why) {
  throw Error(ErrorKind::failed, "the run directory " + directory.string() + " cannot be written: " + why +
                                     "; choose another one with --directory");
}

// An existing directory keeps the permissions that its owner has chosen.
void make_private_directory(const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::create_directories(directory, error) && !error) return;
  if (!error) std::filesystem::permissions(directory, std::filesystem::perms::owner_all, error);
  if (error) refuse(directory, error.message());
}

// The kernel releases the lock however this process ends. On a file system without locks, nothing is locked.
Descriptor lock(const std::filesystem::path& directory, Time until) {
  Descriptor file(open((directory / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) refuse(directory, std::strerror(errno));
  for (Event never; flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;) {
    if (passed(until)) {
      throw Error(ErrorKind::failed, "another launch is using the run directory " + directory.string() +
                                         ": choose another one with --directory");
    }
    never.wait(after(kLockPeriod));
  }
  return file;
}

}  // namespace

std::string new_run_name(const std::string& program) {
  const auto seconds = static_cast<std::time_t>(wall_clock() / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> when{};
  std::strftime(when.data(), when.size(), "%Y%m%d-%H%M%S", &local);
  return program + "-" + when.data() + "-" + random_suffix();
}

std::string random_suffix() {
  std::uint16_t random = 0;
  [[maybe_unused]] const auto got = getrandom(&random, sizeof random, 0);
  std::array<char, 8> suffix{};
  std::snprintf(suffix.data(), suffix.size(), "%04x", static_cast<unsigned>(random));
  return suffix.data();
}

std::filesystem::path default_run_directory(const std::string& run) {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return std::filesystem::path(state) / "lp/runs" / run;
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == 0) {
    throw Error(
        ErrorKind::failed,
        "there is no place for the run directory, because neither XDG_STATE_HOME nor HOME is set: give --directory");
  }
  return std::filesystem::path(home) / ".local/state/lp/runs" / run;
}

Descriptor make_run_directory(const std::filesystem::path& directory, bool own, Time until) {
  make_private_directory(directory);
  Descriptor taken = lock(directory, until);
  std::error_code error;
  if (own) std::filesystem::remove(directory / "result.json", error);  // removes the result of an earlier start
  if (!own && std::filesystem::exists(directory / "plan.json", error)) {
    throw Error(
        ErrorKind::failed,
        directory.string() +
            " already holds another run: choose another one with --directory, or continue that run with --resume");
  }
  for (const char* part : {"logs", "checkpoints"}) {
    std::filesystem::create_directories(directory / part, error);
    if (error) refuse(directory, error.message());
  }
  const std::filesystem::path probe = directory / ".writable";
  try {
    write_file(probe, "x");
  } catch (const Error& why) {
    refuse(directory, why.text());
  }
  std::filesystem::remove(probe, error);
  return taken;
}

bool is_still_taken(const Descriptor& taken, const std::filesystem::path& directory) {
  struct stat ours {};
  struct stat there {};
  if (fstat(taken.number(), &ours) != 0 || stat((directory / "lock").c_str(), &there) != 0) return false;
  return ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

void remove_run_directory(const Descriptor& taken, const std::filesystem::path& directory) {
  std::error_code ignored;
  if (is_still_taken(taken, directory)) std::filesystem::remove_all(directory, ignored);
}

void make_directories_below(const std::filesystem::path& root, const std::filesystem::path& directory) {
  std::filesystem::path made = root;
  std::error_code ignored;
  for (const std::filesystem::path& part : directory.lexically_relative(root)) {
    std::filesystem::create_directory(made /= part, ignored);
  }
}

std::filesystem::path existing_ancestor(const std::filesystem::path& path) {
  std::filesystem::path out = std::filesystem::absolute(path).parent_path();
  std::error_code ignored;
  while (out.has_relative_path() && !std::filesystem::is_directory(out, ignored)) out = out.parent_path();
  return out;
}

bool is_going_on(const std::filesystem::path& run) {
  std::error_code ignored;
  if (std::filesystem::exists(run / "result.json", ignored)) return false;  // the lock may be held a little longer
  const Descriptor file(open((run / "lock").c_str(), O_RDWR | O_CLOEXEC));
  return file && flock(file.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Descriptor hold_ended(const std::filesystem::path& run) {
  std::error_code ignored;
  Descriptor file(open((run / "lock").c_str(), O_RDWR | O_CLOEXEC));
  if (!file || flock(file.number(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return file;
  if (std::filesystem::exists(run / "result.json", ignored)) return {};  // its launcher is about to end
  throw Error(ErrorKind::failed, "the run in " + run.string() +
                                     " has not ended, and would use the same files as a run that resumes it: " +
                                     "stop it first (`lp stop`), or wait for its end");
}

void register_run(const std::string& run, const std::filesystem::path& directory) {
  std::error_code ignored;
  std::filesystem::path link;
  try {
    link = default_run_directory(run);
  } catch (const Error&) {
    return;
  }
  std::filesystem::create_directories(link.parent_path(), ignored);
  for (const auto& entry : std::filesystem::directory_iterator(link.parent_path(), ignored)) {
    if (entry.is_symlink(ignored) && !entry.exists(ignored)) std::filesystem::remove(entry.path(), ignored);
  }
  std::filesystem::create_directory_symlink(std::filesystem::absolute(directory), link, ignored);
}

void remove_abandoned_scratch() {
  std::error_code ignored;
  std::filesystem::path runs;
  try {
    runs = default_run_directory("run").parent_path();
  } catch (const Error&) {
    return;
  }
  for (const auto& run : std::filesystem::directory_iterator(runs, ignored)) {
    if (!has_scratch(run.path()) || std::filesystem::exists(run.path() / "job.sh", ignored)) continue;
    const Descriptor file(open((run.path() / "lock").c_str(), O_RDWR | O_CLOEXEC));
    if (file && flock(file.number(), LOCK_EX | LOCK_NB) == 0) remove_scratch(run.path(), ScratchLife::run);
  }
}

void forget_run(const std::filesystem::path& directory) {
  std::error_code ignored;
  for (const char* file : {"plan.json", "run.json", "job.sh"}) std::filesystem::remove(directory / file, ignored);
}

}  // namespace lp::launch
