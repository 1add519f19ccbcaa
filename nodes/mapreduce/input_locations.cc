#include "nodes/mapreduce/input_locations.h"

#include <algorithm>
#include <utility>

namespace lp::dataflow {

void InputLocations::set(std::uint32_t worker, FoundInputs found) {
  found_[worker] = std::move(found);
  const std::vector<std::string>& first = found_.begin()->second.files;
  differ_ = std::any_of(found_.begin(), found_.end(), [&first](const auto& one) { return one.second.files != first; });
}

std::vector<std::string> InputLocations::all_files(const FoundInputs& here) const {
  for (const std::string& path : here.unmatched) {
    const auto lacks = [&path](const auto& one) {
      const std::vector<std::string>& unmatched = one.second.unmatched;
      return std::find(unmatched.begin(), unmatched.end(), path) != unmatched.end();
    };
    if (std::all_of(found_.begin(), found_.end(), lacks)) fail_on_unmatched(path);
  }
  std::set<std::string> all(here.files.begin(), here.files.end());
  for (const auto& [worker, found] : found_) all.insert(found.files.begin(), found.files.end());
  return {all.begin(), all.end()};
}

std::vector<std::uint32_t> InputLocations::holders(const std::string& path) const {
  std::vector<std::uint32_t> out;
  for (const auto& [worker, found] : found_) {
    if (std::binary_search(found.files.begin(), found.files.end(), path)) out.push_back(worker);
  }
  return out;
}

bool InputLocations::has(std::uint32_t worker, const std::string& path) const {
  const auto at = found_.find(worker);
  return at != found_.end() && std::binary_search(at->second.files.begin(), at->second.files.end(), path);
}

bool InputLocations::are_together(const std::string& one, const std::string& other) const {
  return std::all_of(found_.begin(), found_.end(),
                     [&](const auto& entry) { return has(entry.first, one) == has(entry.first, other); });
}

}  // namespace lp::dataflow
