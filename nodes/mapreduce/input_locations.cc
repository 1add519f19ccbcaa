#include "nodes/mapreduce/input_locations.h"

#include <algorithm>
#include <utility>

namespace lp::dataflow {
namespace {

bool has_file(const FoundInputs& host, const std::string& path) {
  return std::binary_search(host.files.begin(), host.files.end(), path);
}

// The file of this name on each host, by its first name there; empty: the host lacks it.
std::vector<std::string> files_named(const std::string& path, const std::vector<const FoundInputs*>& hosts) {
  std::vector<std::string> out;
  for (const FoundInputs* const host : hosts) {
    const auto first = host->first_names.find(path);
    out.push_back(!has_file(*host, path) ? "" : first == host->first_names.end() ? path : first->second);
  }
  return out;
}

// A link that leads to one file here and to another one there, such as to the newest log of each host, is kept beside
// both: nothing shows whose file it will be read as.
std::vector<std::string> files_of(const std::vector<const FoundInputs*>& hosts) {
  std::set<std::string> all, linked;
  for (const FoundInputs* const host : hosts) {
    all.insert(host->files.begin(), host->files.end());
    for (const auto& [name, first] : host->first_names) linked.insert({name, first});
  }
  std::set<std::vector<std::string>> seen;
  std::erase_if(all, [&](const std::string& path) {
    return linked.contains(path) && !seen.insert(files_named(path, hosts)).second;
  });
  return {all.begin(), all.end()};
}

}  // namespace

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
  std::vector<const FoundInputs*> hosts{&here};
  for (const auto& [worker, found] : found_) hosts.push_back(&found);
  return files_of(hosts);
}

std::vector<std::uint32_t> InputLocations::holders(const std::string& path) const {
  std::vector<std::uint32_t> out;
  for (const auto& [worker, found] : found_) {
    if (has_file(found, path)) out.push_back(worker);
  }
  return out;
}

bool InputLocations::has(std::uint32_t worker, const std::string& path) const {
  const auto at = found_.find(worker);
  return at != found_.end() && has_file(at->second, path);
}

bool InputLocations::are_together(const std::string& one, const std::string& other) const {
  return std::all_of(found_.begin(), found_.end(),
                     [&](const auto& entry) { return has(entry.first, one) == has(entry.first, other); });
}

}  // namespace lp::dataflow
