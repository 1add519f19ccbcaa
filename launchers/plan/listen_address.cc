#include "launchers/plan/listen_address.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "launchers/control/process_roles.h"
#include "lp/base/error.h"
#include "lp/base/text.h"
#include "lp/rpc/core/curve_keys.h"

namespace lp::launch {

// Kubernetes sets the address as the manifest asks for it. sshd sets the client's address and port and this host's,
// or UNKNOWN behind a proxy.
std::string connected_address() {
  if (const char* address = std::getenv(kAddressVariable); address != nullptr) return address;
  const char* connection = std::getenv("SSH_CONNECTION");
  std::istringstream words(connection == nullptr ? "" : connection);
  std::string word;
  for (int i = 0; i < 3; ++i) words >> word;
  return words && word != "UNKNOWN" ? word : std::string();
}

std::string listen_address(const HostSpec& host, const std::string& otherwise) {
  return host.address.empty() ? otherwise : host.address;
}

std::string own_listen_address(std::span<const HostCapacity> others, const std::string& listen) {
  if (others.empty() || !is_loopback(listen)) return listen;
  const HostSpec& other = others.front().spec;
  std::string address = address_towards(other.address);
  if (!address.empty()) return address;
  throw Error(ErrorKind::failed, "this host has no route to " + other.name + ", whose address is " +
                                     quote(other.address) + ": give an address of this host with --listen");
}

void check_listen_addresses(std::span<const HostCapacity> hosts) {
  const auto find = [&](bool loopback) {
    return std::find_if(hosts.begin(), hosts.end(),
                        [&](const HostCapacity& one) { return is_loopback(one.spec.address) == loopback; });
  };
  const auto near = find(true);
  const auto far = find(false);
  if (near == hosts.end() || far == hosts.end()) return;
  throw Error(ErrorKind::failed, "nodes of " + near->spec.name + " listen at " + near->spec.address +
                                     ", where those of " + far->spec.name + ", at " + far->spec.address +
                                     ", cannot reach them: give its address in --hosts, as NAME:SLOTS:ADDRESS");
}

}  // namespace lp::launch
