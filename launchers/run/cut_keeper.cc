#include "launchers/run/cut_keeper.h"

#include <algorithm>
#include <string>

#include "launchers/plan/earlier_run.h"
#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {

std::optional<Cut> CutKeeper::find(const std::filesystem::path& run, bool required) const {
  std::vector<std::string> problems;
  std::optional<Cut> cut = latest_cut(run, &problems);
  if (!cut.has_value()) {
    if (!required) return std::nullopt;
    fail_without_cut(run, problems);
  }
  if (cut->fingerprint != launch_.program->fingerprint()) {
    throw Error(ErrorKind::failed, cut->directory.string() +
                                       " belongs to a program with a different graph or different types: " +
                                       "resume it with the same binary and the same configuration");
  }
  for (const std::string& problem : problems) {
    log_line(problem + "; the run continues from step " + std::to_string(cut->step));
  }
  if (required && problems.empty()) {
    log_line("the run continues from step " + std::to_string(cut->step) + " of " + run.string());
  }
  return cut;
}

RestorePoint CutKeeper::point_of(const Cut& cut) const {
  RestorePoint point{cut.step, std::filesystem::absolute(cut.directory)};
  std::set<std::string> names;
  for (const CutMember& member : cut.members) names.insert(member.node);
  for (NodeId node = 0; node < graph_.nodes.size(); ++node) {
    if (names.contains(graph_.nodes[node].name)) point.members.insert(node);
  }
  return point;
}

RestorePoint CutKeeper::latest(const std::filesystem::path& run, bool required) const {
  const std::optional<Cut> cut = find(run, required);
  return cut.has_value() ? point_of(*cut) : RestorePoint();
}

RestorePoint CutKeeper::continue_from(const std::filesystem::path& run) {
  const Cut cut = *find(run, /*required=*/true);
  const std::filesystem::path& directory = launch_.options.directory;
  if (directory.empty()) return point_of(cut);
  try {
    const Cut adopted = adopt_cut(directory, cut);
    kept_.push_back(cut.step);
    return point_of(adopted);
  } catch (const Error& error) {
    log_line("the run cannot be resumed before its first checkpoint: " + error.text());
    return point_of(cut);
  }
}

RestorePoint CutKeeper::complete(std::uint64_t step, const std::set<NodeId>& members) {
  const LaunchOptions& options = launch_.options;
  std::vector<std::string> names;
  for (const NodeId member : members) names.push_back(graph_.nodes[member].name);
  const Cut cut = complete_cut(options.directory, step, launch_.program->name(), launch_.program->fingerprint(), names);
  kept_.push_back(step);
  if (kept_.size() > static_cast<std::size_t>(std::max(options.keep_checkpoints, 1))) kept_.erase(kept_.begin());
  prune_cuts(options.directory, kept_);
  return {step, std::filesystem::absolute(cut.directory), members};
}

void CutKeeper::give_up(std::uint64_t step) { remove_cut(launch_.options.directory, step); }

}  // namespace lp::launch
