#pragma once
// The cuts of a run on disk: completes them, removes those that are too old, and finds the one from which a run begins.
//
// The run owns it; its loop thread uses it. latest() is a function for any thread.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "launchers/plan/launch.h"
#include "launchers/supervisor/coordinator.h"
#include "launchers/supervisor/supervision_graph.h"
#include "lp/checkpoint/cut.h"

namespace lp::launch {

class CutKeeper {
 public:
  CutKeeper(const Launch& launch, const SupervisionGraph& graph) : launch_(launch), graph_(graph) {}

  // The last complete cut in the directory of a run. Nothing if there is none; Error if one is `required`. Throws Error
  // for a cut of another program.
  RestorePoint latest(const std::filesystem::path& run, bool required) const;
  // The last complete cut of an earlier run. It becomes the first one of this run, if that has a directory: so this run
  // can be resumed, too, however it ends. Throws Error like latest(run, true).
  RestorePoint continue_from(const std::filesystem::path& run);
  // All members have saved this step: the cut is complete. Throws Error when it cannot be kept.
  RestorePoint complete(std::uint64_t step, const std::set<NodeId>& members);
  // The cut will never be complete. Throws Error when its files cannot be removed.
  void give_up(std::uint64_t step);

 private:
  std::optional<Cut> find(const std::filesystem::path& run, bool required) const;
  RestorePoint point_of(const Cut& cut) const;

  const Launch& launch_;
  const SupervisionGraph& graph_;
  std::vector<std::uint64_t> kept_;  // the steps of the complete cuts on disk
};

}  // namespace lp::launch
