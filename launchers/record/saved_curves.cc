#include "launchers/record/saved_curves.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "launchers/record/event_reader.h"
#include "lp/base/file.h"
#include "lp/base/scheduler.h"

namespace lp::launch {
namespace {

const std::string kEventFiles = "events.out.tfevents.";

bool is_event_file(const std::filesystem::directory_entry& entry) {
  std::error_code ignored;
  return entry.path().filename().string().starts_with(kEventFiles) && entry.is_regular_file(ignored);
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

std::filesystem::path new_event_file(const std::filesystem::path& folder) {
  const std::int64_t time = wall_clock();
  const std::string fraction = std::to_string(1'000'000'000 + time % 1'000'000'000).substr(1);
  return folder / (kEventFiles + std::to_string(time / 1'000'000'000) + "." + fraction + ".lp");
}

std::vector<std::string> curve_nodes(const std::filesystem::path& run) {
  std::set<std::string> nodes;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run / kCurves, none)) {
    const std::filesystem::path folder = entry.path().parent_path();
    if (is_event_file(entry) && folder != run / kCurves) nodes.insert(folder.lexically_relative(run / kCurves));
  }
  return {nodes.begin(), nodes.end()};
}

NodeCurves read_curves(const std::filesystem::path& run, const std::string& node) {
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
  for (const std::filesystem::path& file : event_files(run / kCurves / node)) {
    read_events(read_text(file, kLargestEventFile), take);
  }
  std::erase_if(curves, [](const auto& curve) { return curve.second.empty(); });
  for (auto& [name, points] : curves) {
    std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  }
  return curves;
}

std::map<std::string, NodeCurves> read_curves(const std::filesystem::path& run) {
  std::map<std::string, NodeCurves> all;
  for (const std::string& node : curve_nodes(run)) {
    NodeCurves curves = read_curves(run, node);
    if (!curves.empty()) all.emplace(node, std::move(curves));
  }
  return all;
}

std::vector<std::string> damaged_curves(const std::filesystem::path& run) {
  std::vector<std::string> found;
  for (const std::string& node : curve_nodes(run)) {
    for (const std::filesystem::path& file : event_files(run / kCurves / node)) {
      const std::optional<std::string> text = read_text_if_any(file, kLargestEventFile);
      if (!text) continue;  // it has just gone
      const std::size_t whole = read_events(*text, [](const ReadEvent&) {});
      if (!is_damaged(std::string_view(*text).substr(whole))) continue;
      found.push_back("the curves of " + node + " are not whole: " + file.string() + " is damaged after " +
                      std::to_string(whole) + " bytes");
    }
  }
  return found;
}

}  // namespace lp::launch
