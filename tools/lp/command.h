#pragma once
// The table of the commands of lp: the name of each, its words and flags, and the function that runs it. The help, the
// completion and the test of the man page use this table.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lp/arguments.h"
#include "tools/lp/command_error.h"
#include "tools/lp/screen.h"

namespace lp::tool {

// Each returns the exit code of the process, or throws CommandError.
int run_command(const Arguments& arguments, Screen& screen);
int list_command(const Arguments& arguments, Screen& screen);
int status_command(const Arguments& arguments, Screen& screen);
int logs_command(const Arguments& arguments, Screen& screen);
int describe_command(const Arguments& arguments, Screen& screen);
int graph_command(const Arguments& arguments, Screen& screen);
int plot_command(const Arguments& arguments, Screen& screen);
int report_command(const Arguments& arguments, Screen& screen);
int image_command(const Arguments& arguments, Screen& screen);
int doctor_command(const Arguments& arguments, Screen& screen);
int top_command(const Arguments& arguments, Screen& screen);
int stop_command(const Arguments& arguments, Screen& screen);
int why_command(const Arguments& arguments, Screen& screen);
int trace_command(const Arguments& arguments, Screen& screen);
int stack_command(const Arguments& arguments, Screen& screen);
int restart_command(const Arguments& arguments, Screen& screen);
int checkpoint_command(const Arguments& arguments, Screen& screen);
int ui_command(const Arguments& arguments, Screen& screen);
int rm_command(const Arguments& arguments, Screen& screen);

struct Command {
  std::string_view name;
  std::string_view words;  // "RUN [NODE]"
  std::size_t least;       // the least number of words
  std::size_t most;
  std::string_view help;
  std::vector<Flag> flags;
  int (*run)(const Arguments& arguments, Screen& screen);
  bool passes = false;  // unknown flags are for another program
};

// All commands, in the order of the help.
std::span<const Command> commands();

// The possible completions of the last of these words, for the shell, one a line.
std::string completions(std::span<const std::string> words);

// main(). The arguments are as given, without the name of the program.
int main_command(std::span<const std::string> arguments);

inline int code_of(Exit exit) { return static_cast<int>(exit); }

}  // namespace lp::tool
