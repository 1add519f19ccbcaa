#include "launchers/remote/ssh_command.h"

#include <sstream>

namespace lp::internal {

std::vector<std::string> ssh_command(const std::string& words, const std::string& host, const std::string& line) {
  std::vector<std::string> command;
  std::istringstream text(words);
  for (std::string word; text >> word;) command.push_back(word);
  if (command.empty()) command.emplace_back("ssh");
  command.insert(command.end(), {"-T", "-oBatchMode=yes", "-oConnectTimeout=15", "--", host, line});
  return command;
}

}  // namespace lp::internal
