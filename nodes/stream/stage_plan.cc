#include "nodes/stream/stage_plan.h"

#include <algorithm>
#include <system_error>

#include "lp/base/error.h"

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

std::string StageSite::take_over(const std::string& file) {
  if (made(file)) return file;
  std::string own = new_file(ScratchLife::cuts);
  std::error_code error;
  std::filesystem::create_hard_link(file, own, error);
  if (error) std::filesystem::copy_file(file, own, error);  // another file system, or one without such links
  if (error) throw Error(ErrorKind::failed, file + " cannot be copied to " + own + ": " + error.message());
  return own;
}

}  // namespace lp::dataflow
