#pragma once
// What each process of a run gets beside its nodes: environment, processors, GPUs. Functions without state.

#include <span>
#include <string>
#include <vector>

#include "launchers/process_host.h"
#include "launchers/run.h"
#include "launchers/topology.h"
#include "lp/config/placement.h"
#include "lp/program/plan.h"

namespace lp::internal {

// What the groups of `program` are to be, after what a configuration file says of them. Throws Error for a group that
// the program does not have, and for what cannot be done on one host.
std::vector<GroupOptions> placed_groups(const Program& program, std::span<const GroupPlacement> placements);

// The plan of a launch on this host. Throws Error with everything that is wrong.
Plan plan_here(const Program& program, const LaunchOptions& options);

// What this host has for nodes. Processors are counted only with `pin`, else they are shared.
HostResources resources_here(bool pin);

// One place for each unit. GPUs and, with `options.pin`, processors are given out in the order of the plan;
// `options.debug` names the node that runs under a debugger. Throws Error when there is no such node.
std::vector<UnitPlace> place_units(const Plan& plan, const Topology& topology, const LaunchOptions& options);

}  // namespace lp::internal
