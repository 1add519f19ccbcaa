#include "launchers/plan/placer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "lp/gpu/memory_limit.h"

namespace lp::launch {
namespace {

// Removes the first `count` elements and returns them. `from` has at least as many.
template <class T>
std::vector<T> take(std::vector<T>& from, std::size_t count) {
  std::vector<T> taken(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
  from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
  return taken;
}

// The hosts that each group may have: all, or those that its placement names. In a run of several engines, these are
// the hosts of the group's own engine.
std::vector<std::vector<bool>> allowed_hosts(const Plan& plan, const std::vector<HostCapacity>& hosts,
                                             const std::vector<GroupPlacement>& placements) {
  std::vector<std::string> names;
  for (const HostCapacity& host : hosts) names.push_back(host.spec.name);
  std::vector<std::vector<bool>> allowed(plan.groups.size(), std::vector<bool>(hosts.size(), true));
  for (const GroupPlacement& place : placements) {
    for (std::size_t group = 0; group < plan.groups.size(); ++group) {
      if (plan.groups[group].options.name != place.group || place.hosts.empty()) continue;
      allowed[group].assign(hosts.size(), false);
      for (const std::string& host : place.hosts) {
        if (std::find(names.begin(), names.end(), host) == names.end()) {
          throw Error(ErrorKind::failed, place.location() + ": group " + place.group + ": the run has no host " +
                                             quote(host) + did_you_mean(host, names));
        }
        for (std::size_t at = 0; at < names.size(); ++at) {
          if (names[at] != host) continue;
          allowed[group][at] = true;
          const std::string& engine = plan.groups[group].launcher;
          const std::string_view other = hosts[at].spec.launch.name();
          if (engine.empty() || engine == other) continue;
          throw Error(ErrorKind::failed, place.location() + ": group " + place.group + " has the engine " + engine +
                                             ", but its host " + host + " belongs to " + std::string(other));
        }
      }
    }
  }
  return allowed;
}

// Returns true if the program cannot begin without the process. For an elastic group these are its first nodes.
bool is_needed(const Plan& plan, const SupervisionGraph& graph, std::size_t process) {
  const auto& nodes = graph.processes[process].nodes;
  return !graph.processes[process].elastic || std::any_of(nodes.begin(), nodes.end(), [&](NodeId node) {
    return plan.nodes[node].index < plan.groups[plan.nodes[node].group].options.replicas.least;
  });
}

}  // namespace

Placer::Placer(const Plan& plan, const SupervisionGraph& graph, std::vector<HostCapacity> hosts, const Options& options)
    : graph_(graph),
      pin_(options.pin),
      hosts_(std::move(hosts)),
      needs_(graph.processes.size()),
      places_(graph.processes.size()),
      environments_(graph.processes.size()) {
  for (const HostCapacity& host : hosts_) free_.push_back(all_of(host));
  const std::vector<std::vector<bool>> allowed = allowed_hosts(plan, hosts_, options.placements);
  const std::vector<ProcessResources> asked = needs_of_processes(plan);
  std::string problems;
  for (std::size_t process = 0; process < places_.size(); ++process) {
    Need& need = needs_[process];
    static_cast<ProcessResources&>(need) = asked[process];
    need.hosts.assign(hosts_.size(), true);
    for (const NodeId node : graph.processes[process].nodes) {
      const std::size_t group = graph.nodes[node].group;
      for (std::size_t host = 0; host < hosts_.size(); ++host)
        need.hosts[host] = need.hosts[host] && allowed[group][host];
      for (const auto& [name, value] : plan.groups[group].options.environment) environments_[process][name] = value;
    }
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      const HostSpec& spec = hosts_[host].spec;
      const bool its_engine = options.launches.empty() || spec.launch == options.launches[process];
      const bool its_component = options.components.empty() || spec.component == options.components[process];
      need.hosts[host] = need.hosts[host] && its_engine && its_component;
    }
    if (options.dedicated) {
      need.hosts.assign(hosts_.size(), false);
      need.hosts[process] = true;
      need.gpus = 0;
      need.memory = 0;
    }
    hides_gpus_ = hides_gpus_ || need.gpus > 0;
    places_[process].memory = need.memory;
  }
  for (std::size_t process = 0; process < places_.size(); ++process) {
    if (!is_needed(plan, graph, process)) continue;
    if (const std::string problem = put(process, /*needed=*/true); !problem.empty()) problems += "\n  " + problem;
  }
  if (!problems.empty()) throw Error(ErrorKind::failed, "the program does not fit on its hosts:" + problems);
  for (const GroupPlacement& place : options.placements) set_directory(place);
  if (!options.debug.empty()) {
    const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                   [&](const SupervisionGraph::Node& one) { return one.name == options.debug; });
    if (node == graph.nodes.end()) {
      throw Error(ErrorKind::failed, "there is no node " + quote(options.debug) + " to debug");
    }
    places_[node->process].debugger = {"gdb", "-q", "-ex", "run", "--args"};
  }
}

void Placer::set_directory(const GroupPlacement& place) {
  if (!place.directory.has_value()) return;
  for (std::size_t process = 0; process < places_.size(); ++process) {
    for (const NodeId node : graph_.processes[process].nodes) {
      if (graph_.groups[graph_.nodes[node].group].name == place.group) places_[process].directory = *place.directory;
    }
  }
}

void Placer::connected(std::size_t host, const std::string& address, const std::string& directory,
                       const std::string& machine) {
  hosts_[host].spec.address = address;
  hosts_[host].directory = directory;
  hosts_[host].machine = machine;
  free_[host].lost = false;
  for (Assignment& place : places_) {
    if (place.host == host) place.listen = address;
  }
}

void Placer::lose(std::size_t host) { free_[host].lost = true; }

void Placer::take_back(std::size_t host, HostCapacity capacity) {
  std::vector<std::size_t> processes;
  for (std::size_t process = 0; process < places_.size(); ++process) {
    if (places_[process].host != host) continue;
    processes.push_back(process);
    release(process);
  }
  hosts_[host] = std::move(capacity);
  free_[host] = all_of(hosts_[host]);
  for (const std::size_t process : processes) {
    if (fits(needs_[process], host, /*needed=*/true)) assign(process, host);
  }
}

std::string Placer::capacity_text(std::size_t host) const {
  const HostCapacity& all = hosts_[host];
  return list(all.cores.size(), std::to_string(all.gpus.size()), all.memory);
}

Placer::Free Placer::all_of(const HostCapacity& host) {
  return {.cores = host.cores, .gpus = HostGpus(host.gpus), .memory = host.memory};
}

bool Placer::misses_host(std::size_t process) const {
  for (std::size_t host = 0; host < free_.size(); ++host) {
    if (free_[host].lost && needs_[process].hosts[host] && hosts_[host].spec.comes_back) return true;
  }
  return false;
}

std::string Placer::place(std::size_t process, bool needed) {
  const Assignment& place = places_[process];
  if (place.host != Assignment::kNowhere && !free_[place.host].lost && !free_[place.host].gpus.broken(place.gpus)) {
    return {};
  }
  release(process);
  return put(process, needed);
}

void Placer::release(std::size_t process) {
  Assignment& place = places_[process];
  if (place.host == Assignment::kNowhere) return;
  Free& free = free_[std::exchange(place.host, Assignment::kNowhere)];
  free.processes -= 1;
  free.memory += needs_[process].memory;
  free.gpus.give_back(std::exchange(place.gpus, {}), needs_[process].gpus);
  for (const unsigned core : std::exchange(place.cores, {})) free.cores.push_back(core);
}

bool Placer::fits(const Need& need, std::size_t host, bool needed) const {
  const Free& free = free_[host];
  return need.hosts[host] && !free.lost && (needed || free.processes < hosts_[host].spec.slots) &&
         free.gpus.fits(need.gpus) && free.memory >= need.memory && (!pin_ || free.cores.size() >= cores_of(need));
}

std::size_t Placer::cores_of(const Need& need) {
  return need.cpus < 1 ? 0 : static_cast<std::size_t>(std::ceil(need.cpus));
}

// Assigns the process to the best host. Returns why that is impossible, or an empty string on success.
std::string Placer::put(std::size_t process, bool needed) {
  const Need& need = needs_[process];
  std::optional<std::size_t> best;
  const auto load = [&](std::size_t host) {
    return static_cast<double>(free_[host].processes) / static_cast<double>(hosts_[host].spec.slots);
  };
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (fits(need, host, needed) && (!best.has_value() || load(host) < load(*best))) best = host;
  }
  if (!best.has_value()) return shortage(process, needed);
  assign(process, *best);
  return {};
}

// Gives the process its share of the host, in which it fits.
void Placer::assign(std::size_t process, std::size_t host) {
  const Need& need = needs_[process];
  Free& free = free_[host];
  Assignment& place = places_[process];
  place.host = host;
  place.listen = hosts_[host].spec.address;
  free.processes += 1;
  free.memory -= need.memory;
  std::map<std::string, std::string> environment = environments_[process];
  // Without this, Eigen and BLAS use every core in every process.
  environment.try_emplace("OMP_NUM_THREADS", std::to_string(std::max(1, static_cast<int>(need.cpus))));
  place.gpus = free.gpus.take(need.gpus);
  const bool shares = need.gpus > 0 && need.gpus < 1;
  const double its_part = shares ? need.gpus * static_cast<double>(free.gpus.at(place.gpus.front()).memory) : 0;
  place.gpu_memory = static_cast<std::uint64_t>(its_part);
  if (place.gpu_memory > 0) environment.try_emplace(gpu::MemoryLimit::kVariable, std::to_string(place.gpu_memory));
  if (hides_gpus_) environment.try_emplace("CUDA_VISIBLE_DEVICES", join(gpus_of(process), ","));
  if (pin_) place.cores = take(free.cores, cores_of(need));
  place.environment.clear();
  for (const auto& [name, value] : environment) place.environment.push_back(name + "=" + value);
}

std::vector<std::string> Placer::gpus_of(std::size_t process) const {
  std::vector<std::string> names;
  for (const std::size_t position : places_[process].gpus) {
    names.push_back(free_[places_[process].host].gpus.at(position).uuid);
  }
  return names;
}

// Describes the needs of the process, and what is left on each host that it may have.
std::string Placer::shortage(std::size_t process, bool needed) const {
  const Need& need = needs_[process];
  std::string left;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (!need.hosts[host]) continue;
    const Free& free = free_[host];
    left += (left.empty() ? "" : "; ") + hosts_[host].spec.name + " has " +
            (free.lost ? "been lost"
                       : (needed || free.processes < hosts_[host].spec.slots ? "" : "no slot, ") +
                             list(free.cores.size(), free.gpus.free_text(), free.memory) + " left");
  }
  return graph_.processes[process].name + " needs " + list(cores_of(need), to_json(need.gpus), need.memory) + ", and " +
         (left.empty() ? "no host is allowed for all of its groups" : left);
}

std::string Placer::list(std::size_t cpus, const std::string& gpus, std::uint64_t memory) const {
  const std::string text = gpus + " gpus, " + memory_text(memory) + " of memory";
  return pin_ ? std::to_string(cpus) + " cpus, " + text : text;
}

}  // namespace lp::launch
