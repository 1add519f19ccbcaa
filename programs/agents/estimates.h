#pragma once
// The values that a network sees in a segment, for the formulas of returns.h. One thread at a time.

#include "programs/agents/returns.h"
#include "programs/agents/segment.h"
#include "programs/networks/network.h"

namespace lp {

// The segment's rewards with the network's values: of the observation after each step, which is the last one of its
// episode where that was truncated, and 0 where it ended by itself. Error::failed when the network does not have one
// output, or does not fit the observations.
Trajectory trajectory_of(const Segment& segment, Network& value, const Network::Parameters& parameters);

}  // namespace lp
