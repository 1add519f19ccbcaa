#include "tools/lp/file_watcher.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <system_error>
#include <utility>

namespace lp::tool {
namespace {
constexpr auto kLongest = std::chrono::seconds(1);  // because a network file system reports no changes
constexpr std::uint32_t kWhat = IN_MODIFY | IN_CREATE | IN_MOVED_TO;
}  // namespace

FileWatcher::FileWatcher(std::filesystem::path directory)
    : directory_(std::move(directory)), inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  watch_folders();
}

void FileWatcher::watch_folders() {
  const auto watch = [this](const std::filesystem::path& folder) {
    if (inotify_ && watched_.insert(folder).second) inotify_add_watch(inotify_.number(), folder.c_str(), kWhat);
  };
  watch(directory_);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
    if (entry.is_directory(error)) watch(entry.path());
  }
}

void FileWatcher::wait(int fd) {
  Poller poller;
  if (inotify_) poller.add(inotify_.number(), 0);
  if (fd >= 0) poller.add(fd, 1);
  std::array<Poller::Ready, 2> ready;
  poller.wait(ready, after(kLongest));
  std::array<char, 4096> events;
  while (inotify_ && read(inotify_.number(), events.data(), events.size()) > 0) {
  }
  watch_folders();
}

}  // namespace lp::tool
