#include "launchers/os/relaunch_command.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace lp::internal {

std::vector<std::string> relaunch_command(std::span<const std::string_view> left_out) {
  std::error_code ignored;
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe", ignored)};
  std::ifstream line("/proc/self/cmdline");
  std::string word;
  std::getline(line, word, '\0');
  while (std::getline(line, word, '\0')) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (std::find(left_out.begin(), left_out.end(), name + "=") != left_out.end()) {
      if (equals == std::string::npos) std::getline(line, word, '\0');  // skips the flag's value
    } else if (std::find(left_out.begin(), left_out.end(), name) == left_out.end()) {
      command.push_back(word);
    }
  }
  return command;
}

}  // namespace lp::internal
