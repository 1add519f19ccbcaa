#include "launchers/launch_check.h"

#include <fstream>
#include <string>

#include "launchers/dial.h"
#include "launchers/programs.h"
#include "launchers/relay.h"
#include "lp/base/error.h"

namespace lp::internal {
namespace {

// The argument with which a launcher has started this process; empty: a person has.
std::string argument_of_launcher() {
  std::ifstream line("/proc/self/cmdline");
  std::string word;
  std::getline(line, word, '\0');
  while (std::getline(line, word, '\0')) {
    if (word == kAgentFlag) return word;
    for (const std::string_view flag : {kNodeFlag, kAgentThereFlag, std::string_view(kDialFlag), kRelayFlag}) {
      if (word.starts_with(flag)) return word;
    }
  }
  return {};
}

}  // namespace

void check_launcher(const LaunchOptions& options) {
  if (options.launch == Launch::threads) return;
  const std::string argument = argument_of_launcher();
  if (argument.empty()) return;
  throw Error(ErrorKind::failed,
              "this process, started with " + argument +
                  ", is itself one of a run, and launches none: main() must end with what become_node_if_asked "
                  "returns: `if (const auto code = lp::become_node_if_asked(argc, argv, programs)) return *code;`");
}

}  // namespace lp::internal
