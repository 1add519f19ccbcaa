#include "launchers/plan/launch.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "launchers/plan/agent_starter.h"
#include "launchers/plan/launch_check.h"
#include "launchers/plan/placer.h"
#include "launchers/record/run_directory.h"
#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/gpu/gpus_here.h"

namespace lp::launch {
namespace {

// Replaces the options of a group by those of its placement.
void place(GroupOptions& group, const GroupPlacement& place) {
  if (place.cpus.has_value()) group.cpus = *place.cpus;
  if (place.gpus.has_value()) group.gpus = *place.gpus;
  if (place.memory.has_value()) group.memory = *place.memory;
  if (place.environment.has_value()) group.environment = *place.environment;
  if (place.heartbeat.has_value()) group.heartbeat = from_seconds(*place.heartbeat);
  if (!place.on_failure.has_value()) return;
  group.on_failure.action = static_cast<FailurePolicy::Action>(place.on_failure->action);
  group.on_failure.budget = place.on_failure->budget;
  if (place.on_failure->backoff.has_value()) group.on_failure.backoff = from_seconds(*place.on_failure->backoff);
}

// The options of the program's groups after the placements of a configuration file.
std::vector<GroupOptions> placed_groups(const Program& program, const std::vector<GroupPlacement>& placements) {
  std::vector<GroupOptions> groups;
  std::vector<std::string> names;
  for (const GroupSpec& group : program.groups()) {
    groups.push_back(group.options);
    names.push_back(group.options.name);
  }
  for (const GroupPlacement& placement : placements) {
    const auto at = std::find(names.begin(), names.end(), placement.group);
    if (at == names.end()) {
      throw Error(ErrorKind::failed, placement.location() + ": the program has no group " + quote(placement.group) +
                                         did_you_mean(placement.group, names));
    }
    place(groups[static_cast<std::size_t>(at - names.begin())], placement);
  }
  return groups;
}

Plan plan_of(const Program& program, const LaunchOptions& options, const EngineChoice& choice) {
  PlanOptions plan{.groups = placed_groups(program, options.placements),
                   .serve_forever = options.serve_forever,
                   .together = choice.together()};
  const HostCapacity here = capacity_here();
  plan.host = {.gpus = static_cast<int>(here.gpus.size()), .memory = here.memory, .no_gpus = gpu::missing_gpus()};
  if (options.pin) plan.host.cpus = static_cast<double>(here.cores.size());
  for (const LaunchType type : choice.of_groups()) {
    plan.on_host.push_back(options.engines->of(type).on_this_host());
  }
  Plan made = make_plan(program, plan);
  for (std::size_t group = 0; choice.several() && group < made.groups.size(); ++group) {
    made.groups[group].launcher = choice.of_groups()[group].name();
  }
  return made;
}

}  // namespace

Launch::Launch(Program built, LaunchOptions given, LaunchFlags given_flags, std::span<const std::string> named)
    : program(std::make_shared<const Program>(std::move(built))),
      flags(std::move(given_flags)),
      options(std::move(given)),
      choice(*program, options.launch, options.placements, *options.engines),
      name(options.name.empty() ? new_run_name(program->name()) : options.name) {
  check_flags(flags, choice, *options.engines, named);
  if (engine().names_run_by_directory() && !flags.directory.empty()) {
    name = std::filesystem::absolute(options.directory / "").lexically_normal().parent_path().filename();
  }
  plan = plan_of(*program, options, choice);
  check_launch(*this);
}

std::vector<std::string> planned_hosts(const Launch& launch) {
  std::vector<HostCapacity> hosts;
  bool named = false;
  for (const Engine* engine : launch.choice.engines()) {
    if (engine->agents() == nullptr) continue;
    for (HostCapacity& host : engine->agents()->hosts(launch)) {
      named = named || (!engine->on_this_host() && !host.spec.name.empty());
      hosts.push_back(std::move(host));
    }
  }
  if (!named) return {};
  const SupervisionGraph graph = topology_of(launch.plan);
  const Placer places(launch.plan, graph, std::move(hosts),
                      {.pin = launch.options.pin,
                       .launches = launch.choice.of_processes(launch.plan),
                       .debug = launch.options.debug,
                       .placements = launch.options.placements});
  std::vector<std::string> names;
  for (std::size_t process = 0; process < launch.plan.processes; ++process) {
    const std::size_t host = places.of(process).host;
    names.push_back(host == Assignment::kNowhere ? std::string() : places.host(host).spec.name);
  }
  return names;
}

HostCapacity ample_host(const Plan& plan, HostSpec spec) {
  HostCapacity host{.spec = std::move(spec)};
  std::size_t gpus = 0;
  double cpus = 0;
  for (const PlanNode& node : plan.nodes) {
    const GroupOptions& asked = plan.groups[node.group].options;
    gpus += static_cast<std::size_t>(std::ceil(asked.gpus));
    cpus += std::ceil(asked.cpus);
    host.memory += asked.memory;
  }
  host.gpus.resize(gpus);
  host.cores.resize(static_cast<std::size_t>(cpus));
  return host;
}

}  // namespace lp::launch
