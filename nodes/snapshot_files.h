#pragma once
// The checkpoint files that a node writes into a directory while the program runs, of which it keeps the newest. Those
// that an earlier incarnation, or another run's node, has written there under the same names count, too, by the time at
// which they were written. Owned by a node; in its turn.

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
  int keep = 5;  // how many of the newest files are kept; other files of the directory stay
};

class SnapshotFiles {
 public:
  // The files are DIRECTORY/NAME-STEP.lpc, written in the name of `node`. Error::failed when an option does not fit, or
  // the directory cannot be created.
  SnapshotFiles(SnapshotOptions options, std::string name, std::string node);

  const SnapshotOptions& options() const { return options_; }
  // The newest file, if this node has written it, and it is of this step.
  std::optional<std::filesystem::path> newest(std::uint64_t step) const;
  // Writes the file of this step, and removes old ones. Error::failed when it cannot be written.
  std::filesystem::path write(const Checkpoint& snapshot, std::uint64_t step);

 private:
  std::filesystem::path file_of(std::uint64_t step) const;
  void find_written();
  void remove_old();

  const SnapshotOptions options_;
  const std::string name_;
  const std::string node_;
  std::optional<std::uint64_t> step_{};          // that of the newest file; empty: this node has written none
  std::deque<std::filesystem::path> written_{};  // those that were not removed
};

}  // namespace lp
