#include "tools/lp/saved_checkpoints.h"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/checkpoint/cut.h"
#include "tools/lp/command_error.h"
#include "tools/lp/runs.h"

namespace lp::tool {
namespace {

using Path = std::filesystem::path;

Saved of_cut(const Cut& cut) {
  Saved saved{.path = cut.directory, .step = cut.step, .program = cut.program, .cut = true};
  for (const CutMember& member : cut.members) {
    saved.files.push_back({member.node, cut_file(cut.directory, member.node), member.size});
  }
  return saved;
}

Saved of_file(const Path& file) {
  const CheckpointInfo info = Checkpoint::inspect(file);
  return {.path = file, .step = info.step, .files = {{info.node, file, info.file_size}}};
}

SavedList of_run(const Path& run) {
  CutList cuts = list_cuts(run);
  SavedList list{.problems = std::move(cuts.problems)};
  std::transform(cuts.cuts.begin(), cuts.cuts.end(), std::back_inserter(list.all), of_cut);
  return list;
}

// One cut of a run.
SavedList of_cut_directory(const Path& directory) {
  SavedList list = of_run(directory.parent_path().parent_path());
  std::erase_if(list.all, [&](const Saved& one) { return one.path != directory; });
  std::erase_if(list.problems, [&](const std::string& one) { return !one.starts_with(directory.string() + ":"); });
  return list;
}

SavedList of_files(const Path& directory) {
  SavedList list;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    try {
      list.all.push_back(of_file(entry.path()));
    } catch (const Error& error) {
      list.problems.push_back(error.text());
    }
  }
  std::sort(list.all.begin(), list.all.end(),
            [](const Saved& a, const Saved& b) { return std::pair(a.step, a.path) < std::pair(b.step, b.path); });
  return list;
}

}  // namespace

SavedList list_saved(const std::string& given) {
  std::error_code error;
  Path path = Path(given).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (std::filesystem::is_regular_file(path, error)) return {.all = {of_file(path)}};
  if (given.find('/') == std::string::npos) return of_run(find_run(given).directory);
  if (!std::filesystem::is_directory(path, error)) {
    if (std::filesystem::exists(path, error)) {
      throw CommandError(Exit::failed, quote(given) + " is no checkpoint file: it is a device, a pipe or a socket");
    }
    throw CommandError(Exit::unknown, "there is no file and no directory " + quote(given));
  }
  if (std::filesystem::is_directory(path / "checkpoints", error)) return of_run(path);
  return path.parent_path().filename() == "checkpoints" ? of_cut_directory(path) : of_files(path);
}

Checkpoint read_saved(const Saved& saved, const SavedFile& file) {
  return saved.cut ? read_cut_file(saved.path, file.node) : Checkpoint::read(file.path);
}

}  // namespace lp::tool
