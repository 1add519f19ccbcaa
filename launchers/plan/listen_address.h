#pragma once
// Decides the address at which the nodes of each host listen. It is the address that --hosts gives for the host, else
// the one by which the host's agent was reached, else --listen. Functions without state.

#include <span>
#include <string>

#include "launchers/plan/hosts.h"

namespace lp::launch {

// The address of this host by which the launcher reached this process: Kubernetes or sshd has put it into the
// environment. Empty when it is not known.
std::string connected_address();

// The address given for the host, or `otherwise` when none was given.
std::string listen_address(const HostSpec& host, const std::string& otherwise);

// The address for the nodes of this host, the launcher's own: `listen`, unless nodes of `others` could not reach that.
// Then it is the address on the route to them. Error::failed when there is no route.
std::string own_listen_address(std::span<const HostCapacity> others, const std::string& listen);

// Refuses hosts whose nodes listen at loopback beside hosts whose nodes do not: they could not reach each other.
void check_listen_addresses(std::span<const HostCapacity> hosts);

}  // namespace lp::launch
