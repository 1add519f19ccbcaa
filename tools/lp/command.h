#pragma once
// The commands of lp: what each is called, which words and flags it takes, and the function that does it. The help, the
// completion and the man page's test come from this table.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lp/arguments.h"
#include "tools/lp/refusal.h"
#include "tools/lp/screen.h"

namespace lp::tool {

// Each returns the exit code of the process, or throws Refusal.
int run_command(const Arguments& arguments, Screen& screen);
int list_command(const Arguments& arguments, Screen& screen);
int status_command(const Arguments& arguments, Screen& screen);
int logs_command(const Arguments& arguments, Screen& screen);
int describe_command(const Arguments& arguments, Screen& screen);
int graph_command(const Arguments& arguments, Screen& screen);
int image_command(const Arguments& arguments, Screen& screen);
int doctor_command(const Arguments& arguments, Screen& screen);
int top_command(const Arguments& arguments, Screen& screen);
int stop_command(const Arguments& arguments, Screen& screen);
int restart_command(const Arguments& arguments, Screen& screen);
int checkpoint_command(const Arguments& arguments, Screen& screen);
int rm_command(const Arguments& arguments, Screen& screen);

struct Command {
  std::string_view name;
  std::string_view words;  // "RUN [NODE]"
  std::size_t least;       // how many of them there must be
  std::size_t most;
  std::string_view help;
  std::vector<Flag> flags;
  int (*run)(const Arguments& arguments, Screen& screen);
  bool passes = false;  // flags that it does not know are somebody else's
};

// All of them, in the order of the help.
std::span<const Command> commands();

// What may stand in the place of the last of these words, which is not typed to its end: for the shell, one a line.
std::string completions(std::span<const std::string> words);

// main(), with its arguments as they were given, without the name of the program.
int main_command(std::span<const std::string> arguments);

inline int code_of(Exit exit) { return static_cast<int>(exit); }

}  // namespace lp::tool
