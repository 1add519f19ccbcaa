#pragma once
// Waits until files below a directory change, or a descriptor has something. Owned and used by one thread.

#include <filesystem>
#include <set>

#include "lp/base/descriptor.h"
#include "lp/base/scheduler.h"

namespace lp::tool {

class Changes {
 public:
  // Of the files in `directory` and in its folders, as far as the system tells: wait() looks now and then, too.
  explicit Changes(std::filesystem::path directory);

  // Returns when something has changed, when `fd` is readable (negative: there is none), or after a while.
  void wait(int fd);

 private:
  void watch_folders();

  const std::filesystem::path directory_;
  Descriptor inotify_;
  std::set<std::filesystem::path> watched_;
};

}  // namespace lp::tool
