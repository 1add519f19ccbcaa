#include "nodes/snapshot_files.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {

namespace fs = std::filesystem;

SnapshotFiles::SnapshotFiles(SnapshotOptions options, std::string name, std::string node)
    : options_(std::move(options)), name_(std::move(name)), node_(std::move(node)) {
  if (options_.directory.empty() || options_.keep < 1 || options_.period <= Duration::zero()) {
    throw Error(ErrorKind::failed, "snapshots need a directory, a period above 0, not " +
                                       duration_text(options_.period) + ", and at least 1 file to keep, not " +
                                       std::to_string(options_.keep));
  }
  std::error_code error;
  fs::create_directories(options_.directory, error);
  if (error) throw Error(ErrorKind::failed, options_.directory.string() + " cannot be made: " + error.message());
  find_written();
}

fs::path SnapshotFiles::file_of(std::uint64_t step) const {
  return options_.directory / (name_ + "-" + std::to_string(step) + ".lpc");
}

void SnapshotFiles::find_written() {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  for (const auto& entry : fs::directory_iterator(options_.directory)) {
    if (entry.path().extension() != ".lpc") continue;
    try {
      const CheckpointInfo info = Checkpoint::inspect(entry.path());
      if (info.node == node_ && entry.path() == file_of(info.step)) {
        found.emplace_back(entry.last_write_time(), entry.path());
      }
    } catch (const std::exception&) {  // it is no such file, or has just gone
    }
  }
  std::sort(found.begin(), found.end());
  for (auto& [time, file] : found) written_.push_back(std::move(file));
}

std::optional<fs::path> SnapshotFiles::newest(std::uint64_t step) const {
  if (step_ != step) return std::nullopt;
  return written_.back();
}

fs::path SnapshotFiles::write(const Checkpoint& snapshot, std::uint64_t step) {
  const fs::path file = file_of(step);
  snapshot.write(file, node_, step);
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
