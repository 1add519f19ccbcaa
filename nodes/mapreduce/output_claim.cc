#include "nodes/mapreduce/output_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iterator>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/file.h"

namespace lp::dataflow {

namespace fs = std::filesystem;

namespace {

// Returns false when another one has a lock that excludes this one.
bool lock(const Descriptor& file, int kind) {
  return ::flock(file.number(), kind | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

std::string text_of(const Descriptor& file) {
  std::array<char, kLongestRunName> text{};
  const ssize_t size = ::pread(file.number(), text.data(), text.size(), 0);
  return {text.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
}

bool is_still_at(const fs::path& path, const Descriptor& file) {
  struct ::stat open {};
  struct ::stat there {};
  return ::fstat(file.number(), &open) == 0 && ::stat(path.c_str(), &there) == 0 && open.st_ino == there.st_ino &&
         open.st_dev == there.st_dev;
}

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error(ErrorKind::failed, "the output cannot be made: " + path.string() + ": " +
                                     std::error_code(error, std::generic_category()).message());
}

[[noreturn]] void refuse(const fs::path& directory, const std::string& owner) {
  throw Error(ErrorKind::failed, directory.string() + " belongs to " +
                                     (owner.empty() ? "another run" : "the run " + owner) +
                                     ", which has not ended: wait for its end, stop it, or name another output");
}

bool has_only_mark(const fs::path& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator()) == 1;
}

void write_name(const Descriptor& file, const fs::path& path, const std::string& run) {
  if (::ftruncate(file.number(), 0) != 0 || ::lseek(file.number(), 0, SEEK_SET) != 0 ||
      !write_all(file.number(), run)) {
    fail(path, errno);
  }
}

}  // namespace

void remove_directory(const fs::path& directory) {
  const fs::path removed = directory.string() + "-removed";
  std::error_code error;
  fs::remove_all(removed, error);  // an earlier process may have been killed here
  fs::rename(directory, removed, error);
  if (!error) {
    fs::remove_all(removed, error);
    return;
  }
  // A full disk may have no room for the name. Then late workers may make files while others are removed.
  constexpr int kRemovals = 100;
  for (int i = 0; i < kRemovals && fs::exists(directory, error); ++i) fs::remove_all(directory, error);
}

OutputClaim OutputClaim::take(const fs::path& directory, const std::string& run, Content content) try {
  constexpr int kTries = 100;  // others may remove the directory each time
  const fs::path mark = directory / kRunMark;
  std::string replaced;
  for (int i = 0; i < kTries; ++i) {
    fs::create_directories(directory);
    Descriptor file(::open(mark.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file && errno == ENOENT) continue;
    if (!file) fail(mark, errno);
    const std::string owner = text_of(file);
    const bool own = !run.empty() && owner == run;
    if (!lock(file, own ? LOCK_SH : LOCK_EX)) refuse(directory, owner);
    if (!is_still_at(mark, file)) continue;
    if (owner.empty() && !has_only_mark(directory)) {
      fs::remove(mark);
      throw Error(ErrorKind::failed, directory.string() +
                                         " is needed for the output while it is made, but has files that are of no "
                                         "run: move them away, or name another output");
    }
    if (content == Content::removed && !has_only_mark(directory)) {
      remove_directory(directory);
      if (!own) replaced = owner;
      continue;
    }
    write_name(file, mark, run);
    if (!lock(file, LOCK_SH)) refuse(directory, {});  // another one was faster
    return OutputClaim(std::move(file), std::move(replaced));
  }
  fail(directory, EBUSY);
} catch (const fs::filesystem_error& error) {
  fail(error.path1(), error.code().value());
}

OutputClaim OutputClaim::share(const fs::path& directory) {
  Descriptor file(::open((directory / kRunMark).c_str(), O_RDWR | O_CLOEXEC));
  if (file) lock(file, LOCK_SH);
  return OutputClaim(std::move(file));
}

}  // namespace lp::dataflow
