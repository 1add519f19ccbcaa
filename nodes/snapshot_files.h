#pragma once
// The checkpoint files that a node writes into a directory while the program runs, of which it keeps the newest. Those
// that an earlier incarnation has written there under the same names count, too, by the time at which they were
// written, and so do those that nodes of other runs have written, or are writing meanwhile. Files of the same step
// replace each other. Owned by a node; in its turn.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "lp/base/scheduler.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"

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
  // The newest file that this node has written, if it is of this step, and still there.
  std::optional<std::filesystem::path> newest(std::uint64_t step) const;
  // Writes the file of this step, and removes old ones. Error::failed when it cannot be written.
  std::filesystem::path write(const Checkpoint& snapshot, std::uint64_t step);

 private:
  // A file of the directory. It is not inspected again until it is written again.
  struct Known {
    std::filesystem::file_time_type time{};  // when it was written
    std::uint64_t order = 0;                 // `written_` when it was found: the times of two files may be equal
    std::uint64_t step = 0;
    bool counts = false;  // it has a name and contents as those that write() writes
  };

  std::filesystem::path file_of(std::uint64_t step) const;
  void update_known();
  Known inspected(const std::filesystem::path& file, std::filesystem::file_time_type time) const;
  void remove_old(const std::filesystem::path& written);

  const SnapshotOptions options_;
  const std::string name_;
  const std::string node_;
  std::optional<std::uint64_t> step_{};  // that of the newest file; empty: this node has written none
  std::uint64_t written_ = 0;            // the number of files that this node has written
  std::map<std::filesystem::path, Known> known_{};
};

// Calls `save` in the node's turn after each period, until the program stops. A save that fails is tried again after
// the next period; of failures without a success between them, the first is reported on standard error.
void save_snapshots(Context& node, Duration period, const std::function<void()>& save);

}  // namespace lp
