#pragma once
// Reads the flags of a program and its YAML file into two aggregates: the program's own configuration, and lp's flags.
//
//   Config config;
//   LaunchFlags flags;
//   const lp::CommandLine line = lp::parse(argc, argv, lp::bind(config), lp::bind(flags));
//   if (!line.help.empty()) { ... print it, end ... }
//
// Defaults < YAML (--config=file.yaml) < flags. A field learning_rate is the flag --learning-rate (or --learning_rate)
// and the key learning_rate (or learning-rate); a field hidden of a nested aggregate model is --model.hidden. A flag's
// value follows "=" or is the next argument; a bool flag without "=" is true; a list is separated by commas, and empty
// if its text is; so is an optional. The keys of the file are the fields of the program; `launch` holds lp's own flags,
// and `groups` places groups. A run that goes on from an earlier one has the values of that one instead of the
// defaults. For launchers; one thread.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lp/config/bind.h"
#include "lp/config/config.h"
#include "lp/config/placement.h"

namespace lp {

struct CommandLine {
  std::string help;                    // --help was given: this text answers it, and the rest is unspecified
  std::vector<GroupPlacement> groups;  // whether the program has such groups is not checked here
  std::vector<std::string> changes;    // a clause for each field that is not as in the earlier run
};

// Which fields --help shows, asked for when the other flags are read; `given` has the paths of those of the command
// line.
using HelpSections = std::function<std::vector<HelpSection>(std::span<const std::string> given)>;

// The configuration of an earlier run.
struct EarlierValues {
  std::string text{};  // YAML, as a file that --config names
  std::string file{};  // its name, for messages
};
// Called when `launch` has its values, which tell the earlier run.
using FindEarlier = std::function<std::optional<EarlierValues>()>;

// `launch` has a std::string field `config`, the flag that names the file. Errors (failed) name the flag, or file, line
// and column, and what is expected there; both aggregates are then unspecified. So does the error for a field that the
// earlier run has with another value, unless it is marked with lp::changeable; of lp's own flags that holds for those
// that the earlier values name.
CommandLine parse(int argc, const char* const* argv, const Binding& program, const Binding& launch,
                  const HelpSections& sections = {}, const FindEarlier& find_earlier = {});

// The text of --help: the program's flags, of these sections if there are any, then lp's, in 100 columns.
std::string help_text(const std::string& program_name, const Binding& program, const Binding& launch,
                      std::span<const HelpSection> sections = {});

}  // namespace lp
