#pragma once
// The policy of an experiment on inference servers, for actors that hold none (Espeholt et al., "SEED RL: scalable and
// efficient deep-RL with accelerated central inference", ICLR 2020). An actor sends the observations of its copies, and
// a server chooses the actions of several actors at once, by the newest parameters of the learner.
//
// A node, see nodes/serving/published_server.h. Which observations share a batch depends on the time at which they
// come: so results are no function of the seed.

#include <cstdint>

#include <Eigen/Core>

#include "lp/program/node_type.h"
#include "lp/wire/eigen.h"
#include "nodes/serving/published_server.h"
#include "programs/agents/policy.h"
#include "programs/environments/environment.h"
#include "programs/experiments/parameter_source.h"

namespace lp {

struct Observed {
  Eigen::MatrixXf observations{};  // a column for each copy
  std::uint64_t seed = 0;          // for the choice of the actions
};

// As actors see it.
using PolicyService = InferenceServer<Observed, Choice>;
// A version's number is that of the learner's updates.
using PolicyServer = PublishedServer<&ParameterSource::learned, Observed, Choice>;

// Explores by each version of the policy's parameters.
PolicyServer::MakeModel exploring(const MakePolicy& policy, const MakeEnvironment& environment);

// The tables that calls of this class need are compiled once, in policy_server.cc.
extern template const NodeType& internal::node_type<PolicyServer>();

}  // namespace lp
