#pragma once
// What each process of a run gets beside its nodes: environment, processors, GPUs. Functions without state.

#include <span>
#include <string>
#include <vector>

#include "launchers/process_host.h"
#include "launchers/topology.h"
#include "lp/config/placement.h"
#include "lp/program/program.h"

namespace lp::internal {

// What the groups of `program` are to be, after what a configuration file says of them. Throws Error for a group that
// the program does not have, and for what cannot be done on one host.
std::vector<GroupOptions> placed_groups(const Program& program, std::span<const GroupPlacement> placements);

// One place for each unit. GPUs and, with `pin`, processors are given out in the order of the program; `debug` names
// the node that runs under a debugger. Throws Error when this host has too few of something, or when there is no such
// node.
std::vector<UnitPlace> place_units(std::span<const GroupOptions> groups, const Topology& topology, bool pin,
                                   const std::string& debug);

}  // namespace lp::internal
