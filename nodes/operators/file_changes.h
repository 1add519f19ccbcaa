#pragma once
// Notifies its owner when files in directories change, as far as the system reports it; a network file system reports
// nothing that another host does. Owned by one thread, which makes all calls; a thread of its own waits for the
// reports.

#include <atomic>
#include <filesystem>
#include <functional>

#include "lp/base/descriptor.h"
#include "lp/base/scheduler.h"

namespace lp::dataflow {

class FileChanges {
 public:
  // Calls `changed`, in its own thread, after changes.
  explicit FileChanges(std::function<void()> changed);
  ~FileChanges();
  FileChanges(const FileChanges&) = delete;
  FileChanges& operator=(const FileChanges&) = delete;

  // Watches this directory, without those below it. May be called again for the same one.
  void watch(const std::filesystem::path& directory) const;
  // Whether something has changed since the last call.
  bool any() { return any_.exchange(false); }

 private:
  void wait();

  const std::function<void()> changed_;
  const Descriptor inotify_;  // none where the system has none left
  std::atomic<bool> any_ = false;
  std::atomic<bool> ending_ = false;
  Poller poller_{};
  Thread thread_{};
};

}  // namespace lp::dataflow
