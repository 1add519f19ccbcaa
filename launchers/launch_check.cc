#include "launchers/launch_check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/admin/relay.h"
#include "launchers/control/process_roles.h"
#include "launchers/os/relaunch_command.h"
#include "launchers/programs.h"
#include "launchers/remote/agent_dialer.h"
#include "lp/base/error.h"
#include "lp/base/message.h"

namespace lp::internal {
namespace {

// The argument with which a launcher has started this process; empty: a person has started it.
std::string argument_of_launcher() {
  for (const std::string& word : own_command_line()) {
    if (word == kAgentFlag) return word;
    for (const std::string_view flag : {kNodeFlag, kAgentThereFlag, kDialFlag, kRelayFlag}) {
      if (word.starts_with(flag)) return word;
    }
  }
  return {};
}

}  // namespace

void check_launcher(Launch launch) {
  if (launch == Launch::threads) return;
  const std::string argument = argument_of_launcher();
  if (argument.empty()) return;
  throw Error(ErrorKind::failed,
              "this process, started with " + argument +
                  ", is itself one of a run, and launches none: main() must end with what become_node_if_asked "
                  "returns: `if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;`");
}

void check_options(const Program& program, const LaunchOptions& options) {
  std::vector<std::string> groups;
  for (const GroupSpec& group : program.groups()) groups.push_back(group.options.name);
  for (const std::string& name : options.idle) {
    if (std::find(groups.begin(), groups.end(), name) != groups.end()) continue;
    throw Error(ErrorKind::failed, "the options of the launch have " + quote(name) +
                                       " idle, and the program has no such group" + did_you_mean(name, groups));
  }
  if (options.heartbeat <= Duration::zero()) {
    throw Error(ErrorKind::failed, "the options of the launch have a heartbeat of " + duration_text(options.heartbeat) +
                                       ": it must be more than 0, or every service would count as hanging");
  }
  if (options.grace < Duration::zero()) {
    throw Error(ErrorKind::failed, "the options of the launch have a grace of " + duration_text(options.grace) +
                                       ": it must be 0, to end nodes at once, or more");
  }
}

}  // namespace lp::internal
