#pragma once
// How an actor chooses its actions: by a policy of its own, whose parameters it reads from the learner before each
// segment, or by asking inference servers, step by step (SEED). Owned by an actor; one thread at a time.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "lp/base/random.h"
#include "lp/rpc/client.h"
#include "lp/rpc/clients.h"
#include "programs/agents/segment.h"
#include "programs/experiments/parameter_source.h"
#include "programs/experiments/policy_server.h"

namespace lp {

class Acting {
 public:
  virtual ~Acting() = default;

  // Acts `steps` times in every copy, by parameters with at least so many updates; the segment has the least number
  // that acted. While the learner is being restored, it acts by parameters that it has, if they are new enough. Errors
  // as EnvironmentBatch::step.
  virtual Segment act(EnvironmentBatch& environments, Random& random, std::size_t steps,
                      std::uint64_t least_updates) = 0;
};

// Asks the servers, or without servers makes a policy.
std::unique_ptr<Acting> make_acting(const Client<ParameterSource>& learner, const Clients<PolicyService>& servers,
                                    const MakePolicy& policy, const EnvironmentSpec& spec);

}  // namespace lp
