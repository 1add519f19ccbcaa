#include "lp/program/scratch.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "lp/base/descriptor.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/hash.h"

namespace lp {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOwnBegin = "lp-";  // each such directory has it in front of its name

fs::path links_in(const fs::path& run_directory, ScratchLife life) {
  return run_directory / "scratch" / (life == ScratchLife::run ? "of_run" : "of_cuts");
}

std::string name_of_scratch(const std::string& run, ScratchLife life) {
  return kOwnBegin + run + (life == ScratchLife::run ? "" : "-cuts");
}

std::optional<std::string> text_of_mark(const fs::path& mark) {
  try {
    return read_text_if_any(mark, kLongestRunName);
  } catch (const Error&) {
    return std::nullopt;  // it cannot be read, so it is another user's
  }
}

// Whether the directory around this one belongs to the same run.
bool owns_parent(const fs::path& made) {
  const std::optional<std::string> run = text_of_mark(made.parent_path() / kRunMark);
  const std::string name = made.filename().string();
  return run && (name == name_of_scratch(*run, ScratchLife::run) || name == name_of_scratch(*run, ScratchLife::cuts));
}

std::vector<fs::path> targets_of(const fs::path& run_directory, ScratchLife life) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const fs::directory_entry& link : fs::directory_iterator(links_in(run_directory, life), ignored)) {
    fs::path target = fs::read_symlink(link.path(), ignored);
    if (target.filename().string().starts_with(kOwnBegin)) out.push_back(std::move(target));
  }
  return out;
}

}  // namespace

fs::path make_scratch(const fs::path& run_directory, const std::string& run, const fs::path& parent, ScratchLife life) {
  fs::path made = parent / name_of_scratch(run, life);
  std::error_code error;
  fs::create_directories(made, error);
  if (error) throw Error(ErrorKind::failed, made.string() + " cannot be made: " + error.message());
  if (run_directory.empty()) return made;
  const fs::path target = fs::absolute(made);
  const fs::path link = links_in(run_directory, life) / std::to_string(fnv1a(target.string()));
  std::error_code ignored;  // another node may have made it; without room for it, somebody has to remove the files
  if (fs::is_symlink(link, ignored)) return made;
  fs::create_directory(link.parent_path().parent_path(), ignored);  // not the run's directory
  fs::create_directory(link.parent_path(), ignored);
  fs::create_directory_symlink(target, link, ignored);
  return made;
}

void remove_scratch_directory(const fs::path& made) {
  std::error_code ignored;
  fs::remove_all(made, ignored);
  // A run that takes the directory over locks the mark, too.
  const Descriptor mark(::open((made.parent_path() / kRunMark).c_str(), O_RDWR | O_CLOEXEC));
  if (!mark || ::flock(mark.number(), LOCK_EX | LOCK_NB) != 0) return;
  if (owns_parent(made)) fs::remove_all(made.parent_path(), ignored);
}

void remove_scratch(const fs::path& run_directory, ScratchLife life) {
  for (const fs::path& target : targets_of(run_directory, life)) remove_scratch_directory(target);
  std::error_code ignored;
  fs::remove_all(links_in(run_directory, life), ignored);
  fs::remove(run_directory / "scratch", ignored);  // when it is empty
}

std::vector<fs::path> kept_scratch(const fs::path& run_directory, ScratchLife life) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const fs::path& target : targets_of(run_directory, life)) {
    if (owns_parent(target)) {
      out.push_back(target.parent_path());
    } else if (fs::exists(target, ignored)) {
      out.push_back(target);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool has_scratch(const fs::path& run_directory) {
  std::error_code ignored;
  return fs::exists(run_directory / "scratch", ignored);
}

}  // namespace lp
