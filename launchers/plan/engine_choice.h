#pragma once
// The engine of each group of a program: that of the launch, or the one that its placement names. One run may have
// several. Then the launching process coordinates it, and the processes of its groups run on this host, on hosts of ssh
// and in a job of Slurm. All groups of threads share one process on this host. A value.

#include <span>
#include <string>
#include <vector>

#include "launchers/engine_interface/engines.h"
#include "lp/config/group_placement.h"
#include "lp/program/plan.h"
#include "lp/program/program.h"

namespace lp::launch {

class EngineChoice {
 public:
  // `launch` is the engine of groups without one of their own. Throws Error for an unknown engine, and for engines that
  // do not go together. `engines` must outlive it.
  EngineChoice(const Program& program, LaunchType launch, std::span<const GroupPlacement> placements,
               const Engines& engines);

  bool several() const { return several_; }
  bool has(LaunchType launch) const;
  // By group. In a run of several engines, groups of threads count as processes.
  const std::vector<LaunchType>& of_groups() const { return groups_; }
  // The engine of the run as a whole: that of all groups, or `processes` if there are several.
  LaunchType of_run() const { return several_ ? LaunchType::processes : of_run_; }
  const Engine& engine_of_run() const { return engines_->of(of_run()); }
  // The engines that have groups. Those of other hosts come first, because this host is reached at the address that
  // leads to them.
  std::vector<const Engine*> engines() const;
  // Returns text like "slurm" or "processes and slurm".
  std::string text() const;
  // By group: true if it shares one process with the other groups for which it is true.
  const std::vector<bool>& together() const { return together_; }
  // By process of the plan. Throws Error when groups with different engines share a process.
  std::vector<LaunchType> of_processes(const Plan& plan) const;

 private:
  const Engines* engines_;
  std::vector<LaunchType> groups_;
  std::vector<bool> together_;
  LaunchType of_run_;
  bool several_ = false;
};

}  // namespace lp::launch
