#pragma once
// The common part of the nodes that learn, as actors, evaluators and snapshots see it: the source of the policy's
// parameters, and the counts of the training. Nodes: their handlers run in their turn.

#include <cstddef>

#include "lp/rpc/core/method.h"
#include "lp/rpc/core/published.h"
#include "programs/agents/policy.h"
#include "programs/experiments/training_counter.h"

namespace lp {

class ParameterSource {
 public:
  static constexpr std::size_t kOldVersions = 1024;  // that readers may hold: one each, for this many readers

  virtual ~ParameterSource() = default;

  TrainingCounts counts() const { return counter_.counts(); }
  Published<Learned> learned{kOldVersions};

  using Remote = Methods<&ParameterSource::counts, &ParameterSource::learned>;

 protected:
  TrainingCounter counter_{};
};

}  // namespace lp
