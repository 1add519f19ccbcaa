#include "launchers/plan/launcher_choice.h"

#include <algorithm>
#include <array>
#include <optional>

#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/base/message.h"

namespace lp::internal {
namespace {

constexpr std::array kLaunches{Launch::threads, Launch::processes, Launch::ssh, Launch::slurm, Launch::kubernetes};

Launch read_launcher(const GroupPlacement& place) {
  std::vector<std::string> names;
  for (const Launch launch : kLaunches) {
    names.emplace_back(enum_name(launch));
    if (names.back() == *place.launcher) return launch;
  }
  throw Error(ErrorKind::failed, place.location() + ": group " + place.group + ": there is no launcher " +
                                     quote(*place.launcher) + did_you_mean(*place.launcher, names) + "; there are " +
                                     join(names, ", "));
}

}  // namespace

LauncherChoice::LauncherChoice(const Program& program, Launch launch, std::span<const GroupPlacement> placements)
    : groups_(program.groups().size(), launch), together_(groups_.size()), of_run_(launch) {
  const auto name = [&](std::size_t group) { return program.groups()[group].options.name; };
  for (const GroupPlacement& place : placements) {
    if (!place.launcher.has_value()) continue;
    const Launch its = read_launcher(place);
    if (!place.slurm.empty() && its != Launch::slurm) {
      throw Error(ErrorKind::failed, place.location() + ": group " + place.group +
                                         " has options of `slurm`, and its launcher is " + *place.launcher);
    }
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      if (name(group) == place.group) groups_[group] = its;
    }
  }
  if (!groups_.empty()) of_run_ = groups_.front();
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group] == of_run_) continue;
    several_ = true;
    const bool pods_first = of_run_ == Launch::kubernetes;
    if (!pods_first && groups_[group] != Launch::kubernetes) continue;
    throw Error(ErrorKind::failed, "group " + name(pods_first ? 0 : group) +
                                       " has the launcher kubernetes, and group " + name(pods_first ? group : 0) +
                                       " has " + std::string(enum_name(pods_first ? groups_[group] : of_run_)) +
                                       ": pods are reached within their cluster only, so kubernetes has all groups of "
                                       "a program or none");
  }
  for (std::size_t group = 0; several_ && group < groups_.size(); ++group) {
    if (groups_[group] != Launch::threads) continue;
    groups_[group] = Launch::processes;
    together_[group] = true;
  }
}

bool LauncherChoice::has(Launch launch) const {
  return groups_.empty() ? launch == of_run_ : std::find(groups_.begin(), groups_.end(), launch) != groups_.end();
}

std::string LauncherChoice::text() const {
  std::vector<std::string> names;
  for (const Launch launch : kLaunches) {
    if (has(launch)) names.emplace_back(enum_name(launch));
  }
  return join(names, " and ");
}

std::vector<Launch> LauncherChoice::of_processes(const Plan& plan) const {
  std::vector<std::optional<std::size_t>> first(plan.processes);  // the first group of each process
  std::vector<Launch> launches(plan.processes, of_run());
  for (const PlanNode& node : plan.nodes) {
    if (!first[node.process].has_value()) first[node.process] = node.group;
    const std::size_t other = *first[node.process];
    launches[node.process] = groups_[node.group];
    if (groups_[node.group] == groups_[other]) continue;
    throw Error(ErrorKind::failed,
                "groups " + plan.groups[other].options.name + " and " + plan.groups[node.group].options.name +
                    " share a process, and have different launchers: " + std::string(enum_name(groups_[other])) +
                    " and " + std::string(enum_name(groups_[node.group])));
  }
  return launches;
}

}  // namespace lp::internal
