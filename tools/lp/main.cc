#include <string>
#include <vector>

#include "tools/lp/command.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return lp::tool::main_command(arguments);
}
