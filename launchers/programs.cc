#include "launchers/programs.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "launchers/admin/relay.h"
#include "launchers/agent/agent.h"
#include "launchers/agent/node_process.h"
#include "launchers/control/process_roles.h"
#include "launchers/os/spawn.h"
#include "launchers/remote/agent_dialer.h"

namespace lp {
namespace {

bool is_control_connection(int fd) {
  struct stat info {};
  int domain = 0;
  socklen_t size = sizeof domain;
  return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode) &&
         getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

}  // namespace

std::optional<int> become_node_if_asked(int argc, char** argv, const Programs& programs) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(internal::kAgentThereFlag)) {
      int lease = 0;
      const auto [rest, error] =
          std::from_chars(argument.data() + internal::kAgentThereFlag.size(), argument.data() + argument.size(), lease);
      if (error == std::errc{} && lease > 0) return internal::run_agent_there(std::chrono::seconds(lease));
    }
    if (argument.starts_with(internal::kDialFlag)) {
      return internal::dial_as_asked(std::string(argument.substr(internal::kDialFlag.size())));
    }
    if (argument.starts_with(internal::kRelayFlag)) {
      return internal::run_relay(argument.substr(internal::kRelayFlag.size()));
    }
    const bool agent = argument == internal::kAgentFlag;
    if (!agent && !argument.starts_with(internal::kNodeFlag)) continue;
    if (!is_control_connection(internal::kControlDescriptor)) {
      std::fprintf(stderr, "%s: %s is for the processes that a launcher starts: start the program without it\n",
                   argv[0], agent ? "--lp-agent" : "--lp-node");
      return 2;
    }
    fcntl(internal::kControlDescriptor, F_SETFD, FD_CLOEXEC);
    return agent ? internal::run_agent(internal::kControlDescriptor)
                 : internal::run_node(internal::kControlDescriptor,
                                      std::string(argument.substr(internal::kNodeFlag.size())), programs);
  }
  return std::nullopt;
}

}  // namespace lp
