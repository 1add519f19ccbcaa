#include "nodes/dataflow/directories.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "lp/base/error.h"

namespace lp::dataflow {

namespace fs = std::filesystem;

void need_directory(const fs::path& directory) {
  std::error_code ignored;
  fs::path there = fs::absolute(directory).lexically_normal();
  while (fs::symlink_status(there, ignored).type() == fs::file_type::not_found && there.has_relative_path()) {
    there = there.parent_path();
  }
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorKind::failed, "no file can be made in the directory " + directory.string() + ": " + why);
  };
  if (fs::is_symlink(there, ignored) && !fs::exists(there, ignored)) fail(there.string() + " is a link to nothing");
  if (!fs::is_directory(there, ignored)) fail(there.string() + " is no directory");
  if (::access(there.c_str(), W_OK | X_OK) != 0) {
    fail(there.string() + ": " + std::error_code(errno, std::generic_category()).message());
  }
}

}  // namespace lp::dataflow
