#pragma once
// Which launcher each group of a program has: that of the launch, or the one that its placement names. One run may have
// several. Then who launched coordinates it, and the processes of its groups are on this host, on hosts of ssh, and in
// a job of Slurm; all groups of threads share one process here. A value.

#include <span>
#include <string>
#include <vector>

#include "launchers/plan/hosts.h"
#include "lp/config/placement.h"
#include "lp/program/plan.h"
#include "lp/program/program.h"

namespace lp::internal {

class GroupLaunchers {
 public:
  // `launch` is that of groups without one of their own. Throws Error for a launcher that there is not, and for some
  // that do not go together.
  GroupLaunchers(const Program& program, Launch launch, std::span<const GroupPlacement> placements);

  bool several() const { return several_; }
  bool has(Launch launch) const;
  // By group; those of threads are processes where there are several.
  const std::vector<Launch>& of_groups() const { return groups_; }
  // What the run as a whole is: the launcher of all groups, or `processes`, if they have several.
  Launch of_run() const { return several_ ? Launch::processes : of_run_; }
  // "slurm", "processes and slurm".
  std::string text() const;
  // By group: whether it shares one process with the others of which this is so.
  const std::vector<bool>& together() const { return together_; }
  // By process of the plan. Throws Error when groups share one, and have different launchers.
  std::vector<Launch> of_processes(const Plan& plan) const;

 private:
  std::vector<Launch> groups_;
  std::vector<bool> together_;
  Launch of_run_;
  bool several_ = false;
};

}  // namespace lp::internal
