#include "launchers/remote/ssh_command.h"

#include "launchers/os/run_command.h"

namespace lp::launch {

std::vector<std::string> ssh_command(const std::string& words, const std::string& host, const std::string& line) {
  std::vector<std::string> command = split_command(words);
  if (command.empty()) command.emplace_back("ssh");
  command.insert(command.end(), {"-T", "-oBatchMode=yes", "-oConnectTimeout=15", "--", host, line});
  return command;
}

}  // namespace lp::launch
