#include "lp/program/scratch.h"

#include <system_error>

#include "lp/base/error.h"
#include "lp/base/hash.h"

namespace lp {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOwnBegin = "lp-";  // each such directory has it in front of its name

fs::path links_in(const fs::path& run_directory, ScratchLife life) {
  return run_directory / "scratch" / (life == ScratchLife::run ? "of_run" : "of_cuts");
}

}  // namespace

fs::path make_scratch(const fs::path& run_directory, const std::string& run, const fs::path& parent, ScratchLife life) {
  const fs::path made = parent / (kOwnBegin + run + (life == ScratchLife::run ? "" : "-cuts"));
  std::error_code error;
  fs::create_directories(made, error);
  if (error) throw Error(ErrorKind::failed, made.string() + " cannot be made: " + error.message());
  if (run_directory.empty()) return made;
  const fs::path target = fs::absolute(made);
  const fs::path link = links_in(run_directory, life) / std::to_string(fnv1a(target.string()));
  std::error_code ignored;  // another node may have made it; without room for it, somebody has to remove the files
  if (fs::is_symlink(link, ignored)) return made;
  fs::create_directories(link.parent_path(), ignored);
  fs::create_directory_symlink(target, link, ignored);
  return made;
}

void remove_scratch(const fs::path& run_directory, ScratchLife life) {
  std::error_code ignored;
  for (const fs::directory_entry& link : fs::directory_iterator(links_in(run_directory, life), ignored)) {
    const fs::path target = fs::read_symlink(link.path(), ignored);
    if (target.filename().string().starts_with(kOwnBegin)) fs::remove_all(target, ignored);
  }
  fs::remove_all(links_in(run_directory, life), ignored);
  fs::remove(run_directory / "scratch", ignored);  // when it is empty
}

bool has_scratch(const fs::path& run_directory) {
  std::error_code ignored;
  return fs::exists(run_directory / "scratch", ignored);
}

}  // namespace lp
