#pragma once
// A policy that draws its actions from a distribution, whose parameters a network computes. Owned by a node; one thread
// at a time.

#include <string>

#include "programs/agents/policy.h"
#include "programs/networks/network.h"

namespace lp {

// For discrete and for continuous actions: see action_distribution.h.
MakePolicy random_policy(const MakeNetwork& network);

// Throws Error::failed, which names the agent, unless the actions are discrete.
void need_choices(const EnvironmentSpec& spec, const std::string& agent);

}  // namespace lp
