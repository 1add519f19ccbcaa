#pragma once
// The checkpoint files that a node writes into a directory while the program runs, of which it keeps the newest. Owned
// by a node; in its turn.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "lp/base/scheduler.h"
#include "lp/checkpoint/checkpoint.h"

namespace lp {

struct SnapshotOptions {
  std::filesystem::path directory{};          // on the node's host; created if it does not exist
  Duration period = std::chrono::minutes(1);  // the time between two files
  int keep = 5;  // how many of its newest files are kept; it removes only files that it wrote before
};

class SnapshotFiles {
 public:
  // Error::failed when an option does not fit, or the directory cannot be created.
  explicit SnapshotFiles(SnapshotOptions options);

  const SnapshotOptions& options() const { return options_; }
  // The newest file, if it is of this step.
  std::optional<std::filesystem::path> newest(std::uint64_t step) const;
  // Writes DIRECTORY/NAME-STEP.lpc, in the name of `node`, and removes old files. Error::failed when that cannot be
  // written.
  std::filesystem::path write(const Checkpoint& snapshot, const std::string& name, const std::string& node,
                              std::uint64_t step);

 private:
  void remove_old();

  const SnapshotOptions options_;
  std::uint64_t step_ = 0;                       // that of the newest file
  std::deque<std::filesystem::path> written_{};  // those that were not removed
};

}  // namespace lp
