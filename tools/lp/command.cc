#include "tools/lp/command.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>

#include "lp/base/json.h"
#include "lp/base/message.h"

namespace lp::tool {
namespace {

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
constexpr Flag kJson{"json", 0, "", "the answer as JSON, for programs"};

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
  std::string text = "lp: programs that are distributed, and the runs of them\n\n";
  for (const Command& command : commands()) {
    std::string line = "  lp " + std::string(command.name) + " " + std::string(command.words);
    line.resize(std::max<std::size_t>(line.size() + 2, 34), ' ');
    text += line + std::string(command.help.substr(0, command.help.find(';'))) + "\n";
  }
  return text +
         "\nA RUN is its name, the name's beginning or end if no other run has it, `last`, or a\n"
         "run's directory. `lp COMMAND --help` tells the flags, `man lp` everything else.\n";
}

int fail(Exit code, const std::string& text, bool json) {
  log_line(text);
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
    throw Refusal(Exit::usage,
                  std::string(words < command.least ? "something is missing" : "these are too many words") + ": lp " +
                      std::string(command.name) + " " + std::string(command.words));
  }
  Screen screen;
  return command.run(arguments, screen);
}

const std::vector<Command> kCommands = {
    {"run",
     "BINARY [FLAG...] [-- FLAG...]",
     1,
     kAny,
     "launches a program, with its flags; ends as it does",
     {},
     run_command,
     true},
    {"list", "", 0, 0, "the runs that there are and were, newest first", {kJson}, list_command},
    {"status",
     "RUN",
     1,
     1,
     "what a run and its nodes do; with --watch ends as the run does",
     {{"watch", 'w', "", "again and again, until the run has ended"}, kJson},
     status_command},
    {"describe",
     "RUN",
     1,
     1,
     "all about a run: plan, places, what happened, first cause",
     {{"all", 'a', "", "of a long list of events, all"}, kJson},
     describe_command},
    {"logs",
     "RUN [NODE...]",
     1,
     kAny,
     "what nodes have printed; all of them, if none is named",
     {{"follow", 'f', "", "also what they print from now on, until the run has ended"},
      {"lines", 'n', "COUNT", "only the last so many lines of each node"},
      {"since", 's', "TIME", "only what was printed so long ago or later: 90, 10m, 2h; to about a second"},
      {"grep", 'g', "REGEX", "only lines that an extended regular expression matches"},
      {"ignore-case", 'i', "", "in that expression"},
      kJson},
     logs_command},
    {"top",
     "RUN",
     1,
     1,
     "what the nodes of a live run use and do: processors, memory, calls",
     {{"sort", 's', "KEY", "cpu, memory, calls or queue: largest first"},
      {"interval", 'd', "TIME", "between two looks; 1 s, if not given"},
      {"once", '1', "", "one table, and no more; so it is without a terminal"},
      kJson},
     top_command},
    {"graph",
     "RUN|BINARY [-- FLAG...]",
     1,
     kAny,
     "draws a program as SVG; a live run with its calls per second",
     {{"output", 'o', "FILE", "to be drawn into: .svg, or .dot for Graphviz; standard output, if not given"},
      {"dot", 0, "", "Graphviz's language on standard output"},
      {"interval", 'd', "TIME", "in which calls are counted; 1 s, if not given"},
      kJson},
     graph_command,
     true},
    {"stop",
     "RUN",
     1,
     1,
     "ends a run in order, and waits until it has ended",
     {{"reason", 'r', "TEXT", "for its status and its nodes"},
      {"force", 0, "", "at once: nodes are killed"},
      {"timeout", 't', "TIME", "to wait: 90, 1.5s, 10m; 60 s, if not given; 0: does not wait"},
      kJson},
     stop_command},
    {"restart", "RUN NODE", 2, 2, "starts a node again, at no cost of its budget", {kJson}, restart_command},
    {"checkpoint",
     "list|show|export RUN|PATH",
     2,
     2,
     "the checkpoints of a run, or files; what is in them; their arrays as .npy files",
     {{"step", 's', "STEP", "not the newest cut, but this one"},
      {"output", 'o', "DIRECTORY", "export: for a file for each array, below a directory for each node"},
      kJson},
     checkpoint_command},
    {"rm",
     "[RUN...]",
     0,
     kAny,
     "removes runs that have ended, with their logs and checkpoints",
     {{"older-than", 0, "TIME", "all that began so long ago, instead of those that are named: 12h, 7d"}, kJson},
     rm_command},
    {"image",
     "BINARY",
     1,
     1,
     "packs a program with its libraries into a container image; needs no daemon",
     {{"output", 'o', "FILE", "the archive; BINARY.tar here, if not given"},
      {"tag", 't', "NAME:TAG", "what the image is called; BINARY:latest, if not given"}},
     image_command},
    {"doctor", "", 0, 0, "what this machine can do, and the fix for what it cannot", {kJson}, doctor_command},
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
      throw Refusal(Exit::usage, "there is no command " + quote(arguments[0]) + did_you_mean(arguments[0], names) +
                                     " `lp help` tells those that there are");
    }
    const auto given = arguments.subspan(1);
    const auto end = std::find(given.begin(), given.end(), "--");
    if (!at->passes && std::find_if(given.begin(), end,
                                    [](const std::string& one) { return one == "--help" || one == "-h"; }) != end) {
      std::fputs(help_of(*at).c_str(), stdout);
      return code_of(Exit::done);
    }
    return run(*at, given);
  } catch (const Refusal& refusal) {
    return fail(refusal.code(), refusal.what(), json);
  } catch (const std::exception& error) {
    return fail(Exit::failed, error.what(), json);
  }
}

}  // namespace lp::tool
