#pragma once
// Checks that refuse a launch before anything has started. Functions without state.

#include "launchers/plan/launch.h"

namespace lp::launch {

// Throws Error for a launch that cannot be fulfilled: for options that the program contradicts, for problems that its
// engines know, and for a launch of processes inside a process of a run. A main() that does not return the result of
// become_node_if_asked would launch once more in each of its processes.
void check_launch(const Launch& launch);

// Throws Error for options that no launch of the program can fulfil.
void check_options(const Program& program, const LaunchOptions& options);

// Throws Error when the path that all calls must take cannot lead to nodes on so many hosts.
void check_path(Path path, std::size_t hosts);

// Throws Error when a process of this engine needs a part of a GPU, for engines that are given whole ones only.
void check_whole_gpus(const Launch& launch, LaunchType type);

// Throws Error when a node of the launch is to be debugged, for engines of other hosts.
void check_not_debugged(const Launch& launch);

}  // namespace lp::launch
