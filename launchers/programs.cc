#include "launchers/programs.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdio>
#include <string>
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
    if (argument.starts_with(launch::kAgentThereFlag)) {
      int lease = 0;
      const auto [rest, error] =
          std::from_chars(argument.data() + launch::kAgentThereFlag.size(), argument.data() + argument.size(), lease);
      if (error == std::errc{} && lease > 0) return launch::run_agent_there(std::chrono::seconds(lease));
    }
    if (argument.starts_with(launch::kDialFlag)) {
      return launch::dial_as_asked(std::string(argument.substr(launch::kDialFlag.size())));
    }
    if (argument.starts_with(launch::kRelayFlag)) {
      return launch::run_relay(argument.substr(launch::kRelayFlag.size()));
    }
    const bool agent = argument == launch::kAgentFlag;
    if (!agent && !argument.starts_with(launch::kNodeFlag)) continue;
    if (!is_control_connection(launch::kControlDescriptor)) {
      std::fprintf(stderr, "%s: %s is only for processes that a launcher starts: start the program without it\n",
                   argv[0], agent ? "--lp-agent" : "--lp-node");
      return 2;
    }
    fcntl(launch::kControlDescriptor, F_SETFD, FD_CLOEXEC);
    return agent ? launch::run_agent(launch::kControlDescriptor)
                 : launch::run_node(launch::kControlDescriptor, std::string(argument.substr(launch::kNodeFlag.size())),
                                    programs);
  }
  return std::nullopt;
}

}  // namespace lp
