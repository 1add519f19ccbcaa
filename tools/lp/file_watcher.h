#pragma once
// Waits until files below a directory change, or until a descriptor is readable. One thread owns and uses it.

#include <filesystem>
#include <set>

#include "lp/base/descriptor.h"
#include "lp/base/scheduler.h"

namespace lp::tool {

class FileWatcher {
 public:
  // Watches the files in `directory` and in its folders as far as the system reports changes. wait() also returns from
  // time to time.
  explicit FileWatcher(std::filesystem::path directory);

  // Returns when a file has changed, when `fd` is readable (negative: there is none), or after a while.
  void wait(int fd);

 private:
  void watch_folders();

  const std::filesystem::path directory_;
  Descriptor inotify_;
  std::set<std::filesystem::path> watched_;
};

}  // namespace lp::tool
