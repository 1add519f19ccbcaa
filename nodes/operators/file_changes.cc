#include "nodes/operators/file_changes.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace lp::dataflow {

FileChanges::FileChanges(std::function<void()> changed)
    : changed_(std::move(changed)), inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (!inotify_) return;
  poller_.add(inotify_.number(), 0);
  thread_ = spawn("file changes", [this] { wait(); });
}

FileChanges::~FileChanges() {
  ending_ = true;
  poller_.wake();
}

void FileChanges::watch(const std::filesystem::path& directory) const {
  constexpr std::uint32_t kWhat = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR;
  if (inotify_) ::inotify_add_watch(inotify_.number(), directory.c_str(), kWhat);
}

void FileChanges::wait() {
  std::array<Poller::Ready, 1> ready;
  std::array<char, 4096> events;
  while (!ending_) {
    if (poller_.wait(ready, kNever) == 0) continue;
    while (::read(inotify_.number(), events.data(), events.size()) > 0) {
    }
    any_ = true;
    changed_();
  }
}

}  // namespace lp::dataflow
