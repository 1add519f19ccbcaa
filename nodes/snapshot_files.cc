#include "nodes/snapshot_files.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <tuple>
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
  update_known();
}

fs::path SnapshotFiles::file_of(std::uint64_t step) const {
  return options_.directory / (name_ + "-" + std::to_string(step) + ".lpc");
}

// Other nodes may write and remove files meanwhile. It forgets those that have gone.
void SnapshotFiles::update_known() {
  std::map<fs::path, Known> found;
  std::error_code error;
  for (fs::directory_iterator one(options_.directory, error), end; !error && one != end; one.increment(error)) {
    const fs::path& file = one->path();
    std::error_code gone;
    const fs::file_time_type time = fs::last_write_time(file, gone);
    if (gone || file.extension() != ".lpc") continue;
    const auto known = known_.find(file);
    const bool same = known != known_.end() && known->second.time == time;
    found.emplace(file, same ? known->second : inspected(file, time));
  }
  if (!error) known_ = std::move(found);
}

SnapshotFiles::Known SnapshotFiles::inspected(const fs::path& file, fs::file_time_type time) const {
  Known out{.time = time, .order = written_};
  try {
    const CheckpointInfo info = Checkpoint::inspect(file);
    out.step = info.step;
    out.counts = info.node == node_ && file == file_of(info.step);
  } catch (const std::exception&) {  // it is no such file, or has just gone
  }
  return out;
}

std::optional<fs::path> SnapshotFiles::newest(std::uint64_t step) const {
  std::error_code error;
  if (step_ != step || !fs::exists(file_of(step), error)) return std::nullopt;
  return file_of(step);
}

fs::path SnapshotFiles::write(const Checkpoint& snapshot, std::uint64_t step) {
  fs::path file = file_of(step);
  snapshot.write(file, node_, step);
  step_ = step;
  std::error_code gone;
  const fs::file_time_type time = fs::last_write_time(file, gone);
  known_.insert_or_assign(file, Known{.time = time, .order = ++written_, .step = step, .counts = true});
  update_known();
  remove_old(file);
  return file;
}

// The file that was just written is the newest, whatever the clocks say. A file that cannot be removed does not count
// from now on.
void SnapshotFiles::remove_old(const fs::path& written) {
  std::vector<std::pair<Known, fs::path>> others;
  for (const auto& [file, known] : known_) {
    if (known.counts && file != written) others.emplace_back(known, file);
  }
  std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.time, a.first.order, a.first.step) < std::tie(b.first.time, b.first.order, b.first.step);
  });
  const auto keep = static_cast<std::size_t>(options_.keep) - 1;
  for (std::size_t i = 0; i + keep < others.size(); ++i) {
    std::error_code error;
    fs::remove(others[i].second, error);
    known_.at(others[i].second).counts = false;
  }
}

void save_snapshots(Context& node, Duration period, const std::function<void()>& save) {
  bool fails = false;
  while (node.wait_for(period)) {
    try {
      node.exclusive(save);
      if (std::exchange(fails, false)) log_line("a snapshot is written again");
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::stopped) return;
      if (error.kind() == ErrorKind::disconnected || std::exchange(fails, true)) continue;
      log_line("no snapshot was written: " + std::string(error.what()) +
               "; further failures are not reported until one is written");
    }
  }
}

}  // namespace lp
