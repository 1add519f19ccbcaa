#include "launchers/agent/agent_host.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>

#include "launchers/control/control_generated.h"
#include "launchers/control/process_roles.h"
#include "launchers/plan/hosts.h"
#include "launchers/plan/listen_address.h"
#include "lp/base/text.h"

namespace lp::launch {

control::HelloT hello_of_this_host(const std::filesystem::path& directory) {
  const HostCapacity here = capacity_here();
  control::HelloT hello;
  hello.cores.assign(here.cores.begin(), here.cores.end());
  for (const gpu::Gpu& one : here.gpus) {
    auto& entry = hello.gpus.emplace_back(std::make_unique<control::GpuT>());
    entry->uuid = one.uuid;
    entry->name = one.name;
    entry->memory = one.memory;
  }
  hello.memory = here.memory;
  hello.directory = directory;
  hello.address = connected_address();
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
  log_line("nodes on this host cannot save checkpoints: cannot use " + parent.string() + ": " + std::strerror(errno));
  return {};
}

}  // namespace lp::launch
