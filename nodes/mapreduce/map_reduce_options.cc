#include "nodes/mapreduce/map_reduce_options.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace lp {

MapReduceOptions MapReduceOptions::in_run(const Context& node) const {
  MapReduceOptions out = *this;
  if (!scratch.empty()) out.scratch = node.scratch(scratch);
  return out;
}

std::uint64_t MapReduceOptions::longest_record() const {
  return std::min(input.longest_record, (memory - kRuntimeMemory) / kRecordShare);
}

std::filesystem::path MapReduceOptions::note_file(const std::string& run, std::uint32_t worker) const {
  return run_files() / (run + "-worker-" + std::to_string(worker) + ".note");
}

std::string MapReduceOptions::part_name(std::uint32_t partition) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "part-%05u", partition);
  return name.data();
}

}  // namespace lp
