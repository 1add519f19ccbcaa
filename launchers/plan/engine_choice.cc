#include "launchers/plan/engine_choice.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp::launch {
namespace {

std::string name_of(const Engine& engine) { return std::string(engine.type().name()); }

LaunchType read_engine(const GroupPlacement& place, const Engines& engines) {
  try {
    return engines.of(*place.launcher).type();
  } catch (const Error& error) {
    throw Error(ErrorKind::failed, place.location() + ": group " + place.group + ": " + error.text());
  }
}

}  // namespace

EngineChoice::EngineChoice(const Program& program, LaunchType launch, std::span<const GroupPlacement> placements,
                           const Engines& engines)
    : engines_(&engines), groups_(program.groups().size(), launch), together_(groups_.size()), of_run_(launch) {
  const auto name = [&](std::size_t group) { return program.groups()[group].options.name; };
  for (const GroupPlacement& place : placements) {
    if (!place.launcher.has_value()) continue;
    const LaunchType its = read_engine(place, engines);
    if (!place.slurm.empty() && its != LaunchType::slurm) {
      throw Error(ErrorKind::failed, place.location() + ": group " + place.group +
                                         " has options of `slurm`, but its key `launcher` names " + *place.launcher);
    }
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      if (name(group) == place.group) groups_[group] = its;
    }
  }
  if (!groups_.empty()) of_run_ = groups_.front();
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    if (groups_[group] == of_run_) continue;
    several_ = true;
    const Engine& first = engines.of(of_run_);
    const Engine& other = engines.of(groups_[group]);
    const bool first_is_alone = !first.why_alone().empty();
    if (!first_is_alone && other.why_alone().empty()) continue;
    const Engine& alone = first_is_alone ? first : other;
    const Engine& beside = first_is_alone ? other : first;
    throw Error(ErrorKind::failed, "group " + name(first_is_alone ? 0 : group) + " has the engine " + name_of(alone) +
                                       ", and group " + name(first_is_alone ? group : 0) + " has " + name_of(beside) +
                                       ": " + std::string(alone.why_alone()));
  }
  for (std::size_t group = 0; several_ && group < groups_.size(); ++group) {
    if (groups_[group] != LaunchType::threads) continue;
    groups_[group] = LaunchType::processes;
    together_[group] = true;
  }
}

bool EngineChoice::has(LaunchType launch) const {
  return groups_.empty() ? launch == of_run_ : std::find(groups_.begin(), groups_.end(), launch) != groups_.end();
}

std::string EngineChoice::text() const {
  std::vector<std::string> names;
  for (const std::string_view engine : engines_->names()) {
    if (has(engines_->of(engine).type())) names.emplace_back(engine);
  }
  return join(names, " and ");
}

std::vector<const Engine*> EngineChoice::engines() const {
  std::vector<const Engine*> all;
  for (const bool here : {false, true}) {
    for (const auto& engine : engines_->all()) {
      if (engine->on_this_host() == here && has(engine->type())) all.push_back(engine.get());
    }
  }
  return all;
}

std::vector<LaunchType> EngineChoice::of_processes(const Plan& plan) const {
  std::vector<std::optional<std::size_t>> first(plan.processes);  // the first group of each process
  std::vector<LaunchType> launches(plan.processes, of_run());
  for (const PlanNode& node : plan.nodes) {
    if (!first[node.process].has_value()) first[node.process] = node.group;
    const std::size_t other = *first[node.process];
    launches[node.process] = groups_[node.group];
    if (groups_[node.group] == groups_[other]) continue;
    throw Error(ErrorKind::failed,
                "groups " + plan.groups[other].options.name + " and " + plan.groups[node.group].options.name +
                    " share a process, but have different engines: " + std::string(groups_[other].name()) + " and " +
                    std::string(groups_[node.group].name()));
  }
  return launches;
}

}  // namespace lp::launch
