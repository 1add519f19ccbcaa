#pragma once
// A policy that chooses one of several actions with the probabilities softmax(network). Owned by a node; one thread at
// a time.

#include <string>

#include "programs/agents/policy.h"
#include "programs/networks/network.h"

namespace lp {

// Error::failed, when the policy is made, for an environment with continuous actions.
MakePolicy categorical_policy(const MakeNetwork& network);

// Throws Error::failed, which names the agent, unless the actions are discrete.
void need_choices(const EnvironmentSpec& spec, const std::string& agent);

}  // namespace lp
