#pragma once
// The common part of the nodes that learn, as actors, evaluators and snapshots see it: the source of the policy's
// parameters, and the counts of the training. Nodes: their handlers run in their turn.

#include <cstddef>
#include <cstdint>

#include "lp/rpc/core/method.h"
#include "lp/rpc/core/published.h"
#include "programs/agents/policy.h"

namespace lp {

struct TrainingCounts {
  std::uint64_t steps = 0;     // environment steps that the learner has learned from
  std::uint64_t episodes = 0;  // that ended in them
  std::uint64_t updates = 0;   // calls of learn()
  double recent_reward = 0;    // mean over the last 100 of these episodes
};

class ParameterSource {
 public:
  static constexpr std::size_t kOldVersions = 1024;  // that readers may hold: one each, for this many readers

  virtual ~ParameterSource() = default;

  TrainingCounts counts() const { return counts_; }
  Published<Learned> learned{kOldVersions};

  using Remote = Methods<&ParameterSource::counts, &ParameterSource::learned>;

 protected:
  TrainingCounts counts_{};
};

}  // namespace lp
