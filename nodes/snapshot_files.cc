#include "nodes/snapshot_files.h"

#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {

namespace fs = std::filesystem;

SnapshotFiles::SnapshotFiles(SnapshotOptions options) : options_(std::move(options)) {
  if (options_.directory.empty() || options_.keep < 1 || options_.period <= Duration::zero()) {
    throw Error(ErrorKind::failed, "snapshots need a directory, a period above 0, not " +
                                       duration_text(options_.period) + ", and at least 1 file to keep, not " +
                                       std::to_string(options_.keep));
  }
  std::error_code error;
  fs::create_directories(options_.directory, error);
  if (error) throw Error(ErrorKind::failed, options_.directory.string() + " cannot be made: " + error.message());
}

std::optional<fs::path> SnapshotFiles::newest(std::uint64_t step) const {
  if (written_.empty() || step_ != step) return std::nullopt;
  return written_.back();
}

fs::path SnapshotFiles::write(const Checkpoint& snapshot, const std::string& name, const std::string& node,
                              std::uint64_t step) {
  const fs::path file = options_.directory / (name + "-" + std::to_string(step) + ".lpc");
  snapshot.write(file, node, step);
  step_ = step;
  std::erase(written_, file);  // a node that was restored reaches the same step again
  written_.push_back(file);
  remove_old();
  return file;
}

// A file that cannot be removed is from now on no longer ours.
void SnapshotFiles::remove_old() {
  for (std::error_code error; written_.size() > static_cast<std::size_t>(options_.keep); written_.pop_front()) {
    fs::remove(written_.front(), error);
  }
}

}  // namespace lp
