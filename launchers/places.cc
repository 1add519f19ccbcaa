#include "launchers/places.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "launchers/memory.h"
#include "lp/base/error.h"
#include "lp/base/message.h"

namespace lp::internal {
namespace {

std::vector<unsigned> own_cores() {
  std::vector<unsigned> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

// Those that this process may use, by the names that CUDA knows them by.
std::vector<std::string> gpus_here() {
  std::vector<std::string> names;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) {
    std::istringstream list(visible);
    for (std::string name; std::getline(list, name, ',') && !name.empty() && name != "-1";) names.push_back(name);
    return names;
  }
  while (access(("/dev/nvidia" + std::to_string(names.size())).c_str(), F_OK) == 0) {
    names.push_back(std::to_string(names.size()));
  }
  return names;
}

Duration seconds(double value) { return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value)); }

}  // namespace

std::vector<GroupOptions> placed_groups(const Program& program, std::span<const GroupPlacement> placements) {
  std::vector<GroupOptions> groups;
  std::vector<std::string> names;
  for (const GroupSpec& group : program.groups()) {
    groups.push_back(group.options);
    names.push_back(group.options.name);
  }
  for (const GroupPlacement& place : placements) {
    const auto at = std::find(names.begin(), names.end(), place.group);
    if (at == names.end()) {
      throw Error(ErrorKind::failed, place.place() + ": the program has no group " + quote(place.group) +
                                         did_you_mean(place.group, names));
    }
    if (place.launcher.has_value() || !place.hosts.empty() || place.directory.has_value()) {
      throw Error(ErrorKind::failed,
                  place.place() + ": group " + place.group +
                      ": launcher, hosts and directory are for a cluster; this launcher has one host");
    }
    GroupOptions& group = groups[static_cast<std::size_t>(at - names.begin())];
    if (place.cpus.has_value()) group.cpus = *place.cpus;
    if (place.gpus.has_value()) group.gpus = *place.gpus;
    if (place.memory.has_value()) group.memory = *place.memory;
    if (place.environment.has_value()) group.environment = *place.environment;
    if (place.heartbeat.has_value()) group.heartbeat = seconds(*place.heartbeat);
    if (place.on_failure.has_value()) {
      group.on_failure.action = static_cast<FailurePolicy::Action>(place.on_failure->action);
      group.on_failure.budget = place.on_failure->budget;
      if (place.on_failure->backoff.has_value()) group.on_failure.backoff = seconds(*place.on_failure->backoff);
    }
  }
  return groups;
}

HostResources resources_here(bool pin) {
  HostResources here{.gpus = static_cast<int>(gpus_here().size()), .memory = memory_here()};
  if (pin) here.cpus = static_cast<double>(own_cores().size());
  return here;
}

Plan plan_here(const Program& program, const LaunchOptions& options) {
  return make_plan(program, {.groups = placed_groups(program, options.placements),
                             .host = resources_here(options.pin),
                             .serve_forever = options.serve_forever});
}

std::vector<UnitPlace> place_units(const Plan& plan, const Topology& topology, const LaunchOptions& launch) {
  std::vector<UnitPlace> places(topology.units.size());
  const std::vector<unsigned> cores = own_cores();
  std::size_t next_core = 0;
  const std::vector<std::string> all_gpus = gpus_here();
  std::size_t next_gpu = 0;
  for (std::size_t unit = 0; unit < places.size(); ++unit) {
    places[unit].listen = launch.listen;
    std::map<std::string, std::string> environment;
    double cpus = 0;
    int gpus = 0;
    for (const NodeId node : topology.units[unit].nodes) {
      const GroupOptions& options = plan.groups[topology.nodes[node].group].options;
      cpus += options.cpus;
      gpus += options.gpus;
      places[unit].memory += options.memory;
      for (const auto& [name, value] : options.environment) environment[name] = value;
    }
    // Eigen and BLAS take every core otherwise, in every process.
    environment.try_emplace("OMP_NUM_THREADS", std::to_string(std::max(1, static_cast<int>(cpus))));
    if (gpus > 0) {
      std::string list;
      for (int i = 0; i < gpus; ++i, ++next_gpu) {
        if (next_gpu < all_gpus.size()) list += (i > 0 ? "," : "") + all_gpus[next_gpu];
      }
      environment.try_emplace("CUDA_VISIBLE_DEVICES", list);
    }
    if (launch.pin && cpus >= 1) {
      for (int i = 0; i < static_cast<int>(std::ceil(cpus)); ++i, ++next_core) {
        if (next_core < cores.size()) places[unit].cores.push_back(cores[next_core]);
      }
    }
    for (const auto& [name, value] : environment) places[unit].environment.push_back(name + "=" + value);
  }
  if (!launch.debug.empty()) {
    const auto node = std::find_if(topology.nodes.begin(), topology.nodes.end(),
                                   [&](const Topology::Node& one) { return one.name == launch.debug; });
    if (node == topology.nodes.end())
      throw Error(ErrorKind::failed, "there is no node " + quote(launch.debug) + " to debug");
    places[node->unit].debugger = {"gdb", "-q", "-ex", "run", "--args"};
  }
  return places;
}

}  // namespace lp::internal
