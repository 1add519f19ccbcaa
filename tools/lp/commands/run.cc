// lp run: becomes the program, which its own main() launches.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "tools/lp/command.h"
#include "tools/lp/elf_machine.h"

namespace lp::tool {

int run_command(const Arguments& arguments, Screen&) {
  std::vector<std::string> words = arguments.words();
  refuse_other_machine(words[0]);  // execvp would run its file as a script
  words.insert(words.end(), arguments.rest().begin(), arguments.rest().end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  throw CommandError(Exit::usage, words[0] + " cannot be run: " + std::strerror(errno));
}

}  // namespace lp::tool
