#pragma once
// The curves of a run, read from the event files in its directory (curves.h): the values that TensorBoard shows,
// without those that a node has replaced since. Values and functions; any thread.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace lp {

struct SavedPoint {
  std::uint64_t step = 0;
  double time = 0;  // seconds since 1970
  double value = 0;
};
// By name of the value, in the order of the steps.
using NodeCurves = std::map<std::string, std::vector<SavedPoint>>;

namespace launch {

inline constexpr const char* kCurves = "curves";  // the folder in a run's directory, with a folder for each node

// Returns a name for a new file in a node's folder. It has the time, because TensorBoard reads files in the order of
// their names.
std::filesystem::path new_event_file(const std::filesystem::path& folder);
// The nodes of a run that have event files.
std::vector<std::string> curve_nodes(const std::filesystem::path& run);
// The event files in a node's folder, the oldest first.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder);

// Returns the curves by node; none for a run without any. Throws Error when a file cannot be read.
std::map<std::string, NodeCurves> read_curves(const std::filesystem::path& run);
// Returns the curves of one node; none if it has reported nothing. Throws Error when a file cannot be read.
NodeCurves read_curves(const std::filesystem::path& run, const std::string& node);
// Returns a sentence for each of its event files that is damaged, and so is not read to its end.
std::vector<std::string> damaged_curves(const std::filesystem::path& run);

inline constexpr std::uint64_t kLargestEventFile = std::uint64_t{64} << 20;  // bytes

}  // namespace launch
}  // namespace lp
