#include "nodes/stream/stage_plan.h"

#include <algorithm>

namespace lp::dataflow {

std::filesystem::path scratch_of(const PipelineOptions& options, const Context& node, ScratchLife life) {
  return node.scratch(options.scratch.empty() ? std::filesystem::temp_directory_path() : options.scratch, life);
}

namespace {

// All names of its files begin so.
std::string begin_of_files(const Context& node) {
  std::string name = node.name() + "-";
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

}  // namespace

std::string StageSite::new_file(ScratchLife life) {
  const std::string name = begin_of_files(node) + std::to_string(node.incarnation()) + "-" + std::to_string(++files);
  return (scratch_of(options, node, life) / name).string();
}

bool StageSite::made(const std::string& file) const {
  return std::filesystem::path(file).filename().string().starts_with(begin_of_files(node)) &&
         std::filesystem::path(file).parent_path() == scratch_of(options, node, ScratchLife::cuts);
}

}  // namespace lp::dataflow
