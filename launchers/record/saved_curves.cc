#include "launchers/record/saved_curves.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "launchers/record/event_reader.h"
#include "lp/base/file.h"

namespace lp::launch {
namespace {

bool is_event_file(const std::filesystem::directory_entry& entry) {
  std::error_code ignored;
  return entry.path().filename().string().starts_with("events.out.tfevents.") && entry.is_regular_file(ignored);
}

NodeCurves read_node(const std::filesystem::path& folder) {
  NodeCurves curves;
  const auto take = [&](const ReadEvent& event) {
    if (event.restarts) {
      for (auto& [name, points] : curves) {
        std::erase_if(points, [&](const SavedPoint& point) { return point.step >= event.step; });
      }
    }
    for (const auto& [name, value] : event.values) {
      curves[std::string(name)].push_back({event.step, event.time, value});
    }
  };
  for (const std::filesystem::path& file : event_files(folder)) read_events(read_text(file, kLargestEventFile), take);
  std::erase_if(curves, [](const auto& curve) { return curve.second.empty(); });
  for (auto& [name, points] : curves) {
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  }
  return curves;
}

}  // namespace

std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (is_event_file(entry)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::map<std::string, NodeCurves> read_curves(const std::filesystem::path& run) {
  const std::filesystem::path top = run / "curves";
  std::set<std::filesystem::path> folders;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top, none)) {
    if (is_event_file(entry)) folders.insert(entry.path().parent_path());
  }
  std::map<std::string, NodeCurves> all;
  for (const std::filesystem::path& folder : folders) {
    NodeCurves curves = read_node(folder);
    if (!curves.empty()) all.emplace(folder.lexically_relative(top), std::move(curves));
  }
  return all;
}

}  // namespace lp::launch
