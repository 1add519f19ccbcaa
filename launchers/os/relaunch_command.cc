#include "launchers/os/relaunch_command.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace lp::launch {

std::vector<std::string> own_command_line() {
  std::vector<std::string> words;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::vector<std::string> relaunch_command(std::span<const std::string_view> left_out) {
  std::error_code ignored;
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe", ignored)};
  const std::vector<std::string> words = own_command_line();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (std::find(left_out.begin(), left_out.end(), name + "=") != left_out.end()) {
      if (equals == std::string::npos) ++i;  // skips the flag's value
    } else if (std::find(left_out.begin(), left_out.end(), name) == left_out.end()) {
      command.push_back(word);
    }
  }
  return command;
}

}  // namespace lp::launch
