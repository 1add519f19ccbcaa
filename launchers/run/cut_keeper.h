#pragma once
// The cuts of a run on disk: completes them, removes those that are too old, and finds the one from which a run begins.
//
// The run owns it; its loop thread uses it. latest() is a function for any thread.

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

#include "launchers/plan/launch.h"
#include "launchers/supervisor/coordinator.h"
#include "launchers/supervisor/supervision_graph.h"

namespace lp::internal {

class CutKeeper {
 public:
  CutKeeper(const Launch& launch, const SupervisionGraph& graph) : launch_(launch), graph_(graph) {}

  // The last complete cut in the directory of a run. Nothing if there is none; Error if one is `required`. Throws Error
  // for a cut of another program.
  RestorePoint latest(const std::filesystem::path& run, bool required) const;
  // All members have saved this step: the cut is complete. Throws Error when it cannot be kept.
  RestorePoint complete(std::uint64_t step, const std::set<NodeId>& members);
  // The cut will never be complete. Throws Error when its files cannot be removed.
  void give_up(std::uint64_t step);

 private:
  const Launch& launch_;
  const SupervisionGraph& graph_;
  std::vector<std::uint64_t> kept_;  // the steps of the complete cuts on disk
};

}  // namespace lp::internal
