#include "nodes/stream/stage_plan.h"

#include <algorithm>

namespace lp::dataflow {

std::filesystem::path scratch_of(const PipelineOptions& options, const Context& node) {
  // A folder of this run alone, because it is removed at the end.
  return (options.scratch.empty() ? std::filesystem::temp_directory_path() : options.scratch) /
         ("lp-pipeline-" + node.run_name());
}

std::string StageSite::new_file() {
  const std::filesystem::path directory = scratch_of(options, node);
  std::filesystem::create_directories(directory);
  std::string name = node.name();
  std::replace(name.begin(), name.end(), '/', '-');
  name += "-" + std::to_string(node.incarnation()) + "-" + std::to_string(++files);
  return (directory / name).string();
}

}  // namespace lp::dataflow
