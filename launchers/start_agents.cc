#include "launchers/start_agents.h"

#include <algorithm>
#include <utility>

#include "launchers/os/descriptor_limit.h"
#include "launchers/remote/ssh_agents.h"
#include "launchers/slurm/batch_script.h"
#include "launchers/slurm/components.h"
#include "lp/base/error.h"
#include "lp/base/message.h"

namespace lp::internal {
namespace {

void add(Agents& agents, std::vector<RemoteAgent> there, const LaunchOptions& options) {
  for (RemoteAgent& agent : there) {
    agents.hosts.push_back(std::move(agent.capacity));
    if (agents.hosts.back().spec.address.empty()) agents.hosts.back().spec.address = options.listen;
    agents.links.push_back(std::move(agent.link));
  }
}

// The address of this host at which nodes on `others` reach its nodes.
std::string address_here(const std::vector<HostCapacity>& others, const std::string& listen) {
  if (others.empty() || !is_loopback(listen)) return listen;
  const HostSpec& other = others.front().spec;
  std::string address = address_towards(other.address);
  if (!address.empty()) return address;
  throw Error(ErrorKind::failed, "there is no way from this host to " + other.name + ", whose address is " +
                                     quote(other.address) + ": name one of this host's with --listen");
}

// Refuses hosts whose nodes listen at loopback, because other hosts cannot reach them.
void check_addresses(const std::vector<HostCapacity>& hosts) {
  const auto find = [&](bool loopback) {
    return std::find_if(hosts.begin(), hosts.end(),
                        [&](const HostCapacity& one) { return is_loopback(one.spec.address) == loopback; });
  };
  const auto near = find(true);
  const auto far = find(false);
  if (near == hosts.end() || far == hosts.end()) return;
  throw Error(ErrorKind::failed, "nodes of " + near->spec.name + " listen at " + near->spec.address +
                                     ", where those of " + far->spec.name + ", at " + far->spec.address +
                                     ", do not reach them: give --hosts its address, as NAME:SLOTS:ADDRESS");
}

void check_path(const LaunchOptions& options, std::size_t hosts) {
  if (options.path != Path::shm || hosts == 1) return;
  throw Error(ErrorKind::failed, "--path=shm needs all nodes on one host, and there are several");
}

}  // namespace

void check_agents(const Plan& plan, const LauncherChoice& launchers, const LaunchOptions& options) {
  const std::vector<Launch>& launches = launchers.of_groups();
  const bool ssh = launchers.has(Launch::ssh);
  const bool slurm = launchers.has(Launch::slurm);
  if ((ssh || slurm) && !options.debug.empty()) {
    throw Error(ErrorKind::failed, "a node can be debugged only on this host: use --launch=processes");
  }
  if (ssh && options.hosts.empty()) {
    const auto group = std::find(launches.begin(), launches.end(), Launch::ssh) - launches.begin();
    const std::string& name = plan.groups[static_cast<std::size_t>(group)].options.name;
    throw Error(ErrorKind::failed,
                (launchers.several() ? "group " + name + " has the launcher ssh, which" : "--launch=ssh") +
                    std::string(" needs --hosts: which hosts shall run it?"));
  }
  const bool here = launchers.has(Launch::processes);
  check_path(options, (ssh ? options.hosts.size() : 0) + (slurm ? 1 : 0) + (here ? 1 : 0));
  static_cast<void>(is_loopback(options.listen));  // throws for a malformed address
}

Agents start_agents(const Plan& plan, const LauncherChoice& launchers, const LaunchOptions& options,
                    const std::string& mark) {
  check_agents(plan, launchers, options);
  const bool here = launchers.has(Launch::processes);
  const bool ssh = launchers.has(Launch::ssh);
  const bool slurm = launchers.has(Launch::slurm);
  const std::uint64_t descriptors = raise_descriptor_limit();
  if (here) check_descriptors(plan.processes, descriptors);
  const RemoteOptions remote{.mark = mark, .lease = std::max(options.grace, kLeastLease), .patience = options.start};
  Agents agents;
  std::vector<HostSpec> nodes;
  if (slurm) {
    const auto components = slurm_components(plan, options.placements, launchers.of_processes(plan));
    nodes = slurm_hosts(components.size());
    if (nodes.back().component > 0) agents.components = component_of_processes(plan, components);
  }
  check_path(options, (ssh ? options.hosts.size() : 0) + nodes.size() + (here ? 1 : 0));
  if (ssh) {  // first, so that HostReconnector numbers the hosts as the run does
    Executable binary;
    const CommandThere command = by_ssh(options.ssh);
    add(agents, start_agents_there(options.hosts, command, remote, binary), options);
    agents.redial = std::make_unique<HostReconnector>(options.hosts, command, remote, std::move(binary));
  }
  if (slurm) {
    agents.step = std::make_unique<SlurmAgents>(nodes, remote);
    add(agents, agents.step->take_agents(), options);
  }
  if (here) {
    HostCapacity capacity = capacity_here();
    capacity.spec.address = address_here(agents.hosts, options.listen);
    agents.hosts.push_back(std::move(capacity));
    agents.links.push_back(start_agent_here(mark));
  }
  check_addresses(agents.hosts);
  return agents;
}

}  // namespace lp::internal
