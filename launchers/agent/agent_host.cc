#include "launchers/agent/agent_host.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <sstream>
#include <system_error>

#include "launchers/control/control_generated.h"
#include "launchers/control/process_roles.h"
#include "launchers/plan/hosts.h"
#include "lp/base/message.h"

namespace lp::internal {
namespace {

// Kubernetes sets the address as the manifest asks for it. sshd sets the client's address and port and this host's,
// or UNKNOWN behind a proxy.
std::string address_of_connection() {
  if (const char* address = std::getenv(kAddressVariable); address != nullptr) return address;
  const char* connection = std::getenv("SSH_CONNECTION");
  std::istringstream words(connection == nullptr ? "" : connection);
  std::string word;
  for (int i = 0; i < 3; ++i) words >> word;
  return words && word != "UNKNOWN" ? word : std::string();
}

}  // namespace

control::HelloT hello_of_this_host(const std::filesystem::path& directory) {
  const HostCapacity here = capacity_here();
  control::HelloT hello;
  hello.cores.assign(here.cores.begin(), here.cores.end());
  hello.gpus = here.gpus;
  hello.memory = here.memory;
  hello.directory = directory;
  hello.address = address_of_connection();
  if (const char* machine = std::getenv(kMachineVariable); machine != nullptr) hello.machine = machine;
  return hello;
}

std::filesystem::path make_own_directory(const std::string& run) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path parent =
      cache != nullptr && *cache == '/' ? cache : (home == nullptr ? "/tmp" : home) + std::string("/.cache");
  parent /= "lp/runs";
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  std::string name = parent / (run + "-XXXXXX");
  if (!error && mkdtemp(name.data()) != nullptr) return name;
  log_line("nodes on this host can save nothing: " + parent.string() + ": " + std::strerror(errno));
  return {};
}

}  // namespace lp::internal
