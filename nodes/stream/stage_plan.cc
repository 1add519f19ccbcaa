#include "nodes/stream/stage_plan.h"

#include <algorithm>

namespace lp::dataflow {

std::filesystem::path scratch_of(const PipelineOptions& options, const Context& node) {
  // A folder of this run alone, because it is removed at the end.
  return (options.scratch.empty() ? std::filesystem::temp_directory_path() : options.scratch) /
         ("lp-pipeline-" + node.run_name());
}

namespace {

// All names of its files begin so.
std::string begin_of_files(const StageSite& site) {
  std::string name = site.node.name() + "-";
  std::replace(name.begin(), name.end(), '/', '-');
  return (scratch_of(site.options, site.node) / name).string();
}

}  // namespace

std::string StageSite::new_file() {
  std::filesystem::create_directories(scratch_of(options, node));
  return begin_of_files(*this) + std::to_string(node.incarnation()) + "-" + std::to_string(++files);
}

bool StageSite::made(const std::string& file) const { return file.starts_with(begin_of_files(*this)); }

}  // namespace lp::dataflow
