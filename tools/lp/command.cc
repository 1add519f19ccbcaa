#include "tools/lp/command.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

#include "lp/base/json.h"
#include "lp/base/text.h"

namespace lp::tool {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
constexpr Flag kJson{"json", 0, "", "prints the answer as JSON, for programs"};

std::string flag_text(const Flag& flag) {
  std::string text = flag.letter == 0 ? "    " : std::string("-") + flag.letter + ", ";
  text += "--" + std::string(flag.name);
  return flag.value.empty() ? text : text + "=" + std::string(flag.value);
}

std::string help_of(const Command& command) {
  std::string text =
      "lp " + std::string(command.name) + " " + std::string(command.words) + "\n  " + std::string(command.help) + "\n";
  if (!command.flags.empty()) text += "\n";
  for (const Flag& flag : command.flags) {
    std::string line = "  " + flag_text(flag);
    line.resize(std::max<std::size_t>(line.size() + 2, 26), ' ');
    text += line + std::string(flag.help) + "\n";
  }
  return text;
}

std::string help_of_all() {
  std::string text = "lp: runs distributed programs, and shows and controls their runs\n\n";
  for (const Command& command : commands()) {
    std::string line = "  lp " + std::string(command.name) + " " + std::string(command.words);
    line.resize(std::max<std::size_t>(line.size() + 2, 34), ' ');
    text += line + std::string(command.help.substr(0, command.help.find(';'))) + "\n";
  }
  return text +
         "\nA RUN is its name, the name's beginning or end if no other run has it, `last`, or a\n"
         "run's directory. `lp COMMAND --help` shows the flags of a command; `man lp` explains everything.\n";
}

// The text may have words from other people, such as the reason of a stop.
int fail(Exit code, const std::string& text, bool json) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) lines.push_back(Screen::clean(line));
  log_line(join(lines, "\n"));
  if (json) {
    JsonWriter writer;
    writer.begin_object();
    writer.member("error", text);
    writer.member("exit_code", code_of(code));
    writer.end_object();
    std::printf("%s\n", std::move(writer).text().c_str());
  }
  return code_of(code);
}

int run(const Command& command, std::span<const std::string> given) {
  const Arguments arguments(given, command.flags, command.passes);
  const std::size_t words = arguments.words().size();
  if (words < command.least || words > command.most) {
    throw CommandError(Exit::usage, std::string(words < command.least ? "too few arguments" : "too many arguments") +
                                        ": lp " + std::string(command.name) + " " + std::string(command.words));
  }
  Screen screen;
  return command.run(arguments, screen);
}

const std::vector<Command> kCommands = {
    {"run",
     "BINARY [FLAG...] [-- FLAG...]",
     1,
     kAny,
     "runs a program with its flags; exits with its exit code",
     {},
     run_command,
     true},
    {"list", "", 0, 0, "lists the runs of this user, newest first", {kJson}, list_command},
    {"status",
     "RUN",
     1,
     1,
     "shows the state of a run and its nodes; with --watch, exits with the run's exit code",
     {{"watch", 'w', "", "repeats this until the run has ended"}, kJson},
     status_command},
    {"describe",
     "RUN",
     1,
     1,
     "shows everything about a run: plan, hosts, events, first cause of a failure",
     {{"all", 'a', "", "shows all events, not only the first and the last ones"}, kJson},
     describe_command},
    {"logs",
     "RUN [NODE...]",
     1,
     kAny,
     "shows the output of nodes; without NODE, of all nodes",
     {{"follow", 'f', "", "continues to show new output until the run has ended"},
      {"lines", 'n', "COUNT", "shows only the last COUNT lines of each node"},
      {"since", 's', "TIME", "shows only output of the last TIME: 90, 10m, 2h; accurate to about a second"},
      {"grep", 'g', "REGEX", "shows only lines that match an extended regular expression"},
      {"ignore-case", 'i', "", "ignores the case of letters in that expression"},
      kJson},
     logs_command},
    {"top",
     "RUN",
     1,
     1,
     "shows what the nodes of a live run use: processors, memory, calls",
     {{"sort", 's', "KEY", "sorts by cpu, memory, calls or queue, largest first"},
      {"interval", 'd', "TIME", "time between two updates; 1 s by default"},
      {"once", '1', "", "prints one table and exits; this is the default without a terminal"},
      kJson},
     top_command},
    {"why",
     "RUN [NODE]",
     1,
     2,
     "explains what the nodes of a live run do and wait for; names deadlocks, stragglers and what is stuck",
     {{"for", 't', "TIME", "looks for this time; 1 s by default"}, kJson},
     why_command},
    {"trace",
     "RUN",
     1,
     1,
     "records what a live run does, for Perfetto or chrome://tracing: calls with their handlers, spans, checkpoints",
     {{"for", 't', "TIME", "records for this time; 10 s by default"},
      {"sample", 's', "SHARE",
       "records this share of calls, with all that they cause: 1, 0.1; by default all, within a bound"},
      {"output", 'o', "FILE", "writes this file; trace.json by default"},
      kJson},
     trace_command},
    {"stack", "RUN NODE", 2, 2, "shows the native stacks of all threads of a node's process", {kJson}, stack_command},
    {"graph",
     "RUN|BINARY [-- FLAG...]",
     1,
     kAny,
     "draws a program as SVG; for a live run, with its calls per second",
     {{"output", 'o', "FILE", "draws into this file: .svg, or .dot for Graphviz; standard output by default"},
      {"dot", 0, "", "prints the graph in the language of Graphviz"},
      {"interval", 'd', "TIME", "counts calls for this time; 1 s by default"},
      kJson},
     graph_command,
     true},
    {"plot",
     "RUN[,RUN...] [METRIC...]",
     1,
     kAny,
     "draws the values that nodes have reported as curves, as SVG; without METRIC, all of them",
     {{"output", 'o', "FILE", "draws into this file; standard output by default"}, kJson},
     plot_command},
    {"report",
     "RUN",
     1,
     1,
     "tells what happened in a run, as one page that can be mailed: utilization, critical path, restarts, curves",
     {{"output", 'o', "FILE", "writes this page in HTML; standard output by default"}, kJson},
     report_command},
    {"ui",
     "",
     0,
     0,
     "serves a page that shows runs in a browser; it prints the address",
     {{"port", 'p', "PORT", "serves at this port of this host; a free one by default"},
      {"read-only", 0, "", "offers no buttons to stop a run or to restart a node"},
      kJson},
     ui_command},
    {"stop",
     "RUN",
     1,
     1,
     "stops a run, and waits until it has ended",
     {{"reason", 'r', "TEXT", "the reason that its status and its nodes show"},
      {"force", 0, "", "kills its nodes at once"},
      {"timeout", 't', "TIME", "waits at most this time: 90, 1.5s, 10m; 60 s by default; 0: does not wait"},
      kJson},
     stop_command},
    {"restart",
     "RUN NODE|GROUP",
     2,
     2,
     "restarts a node, or all nodes of a group; this does not use up their restart budgets",
     {{"force", 0, "", "also when there is no checkpoint, and the work of the nodes is lost"}, kJson},
     restart_command},
    {"checkpoint",
     "list|show|export|import RUN|PATH",
     2,
     2,
     "lists the checkpoints of a run, shows their content, exports their arrays as .npy files, or imports edited ones",
     {{"step", 's', "STEP", "show, export, import: uses the checkpoint of this step instead of the newest one"},
      {"output", 'o', "DIRECTORY",
       "export: writes a file for each array into this directory, below a directory for each node"},
      {"input", 'i', "DIRECTORY", "import: takes the files that export wrote into this directory, and you have edited"},
      kJson},
     checkpoint_command},
    {"rm",
     "[RUN...]",
     0,
     kAny,
     "removes ended runs, with their logs and checkpoints",
     {{"older-than", 0, "TIME",
       "removes all runs that started this long ago or earlier, instead of named runs: 12h, 7d"},
      kJson},
     rm_command},
    {"image",
     "BINARY",
     1,
     1,
     "packs a program with its libraries into a container image; needs no container daemon",
     {{"output", 'o', "FILE", "writes this archive; BINARY.tar in this directory by default"},
      {"tag", 't', "NAME:TAG", "name of the image; BINARY:latest by default"}},
     image_command},
    {"doctor", "", 0, 0, "checks what lp needs on this machine, and suggests fixes", {kJson}, doctor_command},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

int main_command(std::span<const std::string> arguments) {
  const bool json = std::find(arguments.begin(), arguments.end(), "--json") != arguments.end();
  try {
    if (arguments.empty() || arguments[0] == "help" || arguments[0] == "--help" || arguments[0] == "-h") {
      std::fputs(help_of_all().c_str(), arguments.empty() ? stderr : stdout);
      return code_of(arguments.empty() ? Exit::usage : Exit::done);
    }
    if (arguments[0] == "complete") {  // for the shell, not for people
      std::fputs(completions(arguments.subspan(1)).c_str(), stdout);
      return code_of(Exit::done);
    }
    const std::span<const Command> all = commands();
    const auto at = std::find_if(all.begin(), all.end(), [&](const Command& one) { return one.name == arguments[0]; });
    if (at == all.end()) {
      std::vector<std::string> names;
      for (const Command& command : all) names.emplace_back(command.name);
      const std::string guess = did_you_mean(arguments[0], names);
      throw CommandError(Exit::usage, "there is no command " + quote(arguments[0]) + (guess.empty() ? ";" : guess) +
                                          " `lp help` shows all commands");
    }
    const auto given = arguments.subspan(1);
    const auto end = std::find(given.begin(), given.end(), "--");
    if (!at->passes && std::find_if(given.begin(), end,
                                    [](const std::string& one) { return one == "--help" || one == "-h"; }) != end) {
      std::fputs(help_of(*at).c_str(), stdout);
      return code_of(Exit::done);
    }
    return run(*at, given);
  } catch (const CommandError& error) {
    return fail(error.code(), error.what(), json);
  } catch (const std::exception& error) {
    return fail(Exit::failed, error.what(), json);
  }
}

}  // namespace lp::tool
