#pragma once
// Reads the flags of a program and its YAML file into two aggregates: the program's own configuration, and lp's flags.
//
//   Config config;
//   LaunchFlags flags;
//   const lp::CommandLine line = lp::parse(argc, argv, lp::bind(config), lp::bind(flags));
//   if (!line.help.empty()) std::puts(line.help.c_str());
//
// Defaults < YAML (--config=file.yaml) < flags. A field learning_rate is the flag --learning-rate (or --learning_rate)
// and the key learning_rate (or learning-rate); a field hidden of a nested aggregate model is --model.hidden. A flag's
// value follows "=" or is the next argument; a bool flag without "=" is true; a list is separated by commas, but not by
// those in braces, as in a{1,2}.txt; a list or an optional is empty if its text is empty. The keys of the file are the
// fields of the program; `launch` holds lp's own flags, and `groups` places groups. A run that goes on from an earlier
// one has the values of that one instead of the defaults. For launchers; one thread.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lp/config/bind.h"
#include "lp/config/config.h"
#include "lp/config/group_placement.h"

namespace lp {

// A field of the program that the file gives.
struct PlacedField {
  std::string path{};
  std::string place{};  // "file:line:column" of its key
};

struct CommandLine {
  std::string help{};                    // the answer to --help, if it was given; the rest is then unspecified
  std::vector<std::string> given{};      // paths of the fields, the program's and lp's, that the words name
  std::vector<PlacedField> in_file{};    // those of the file, outside nested maps
  std::vector<GroupPlacement> groups{};  // not checked here: the program may lack such groups
  std::vector<std::string> changes{};    // a clause for each field that differs from the earlier run
};

// Chooses the fields that --help shows. It is called after the other flags are read; `given` has the paths of the
// fields that the command line names.
using HelpSections = std::function<std::vector<HelpSection>(std::span<const std::string> given)>;

// The configuration of an earlier run.
struct EarlierValues {
  std::string text{};  // YAML text, as in a file that --config names
  std::string file{};  // name of the file, for messages
};
// Returns the values of the earlier run, if there is one. It is called after `launch` has its values, which identify
// that run.
using FindEarlier = std::function<std::optional<EarlierValues>()>;

// `launch` has a std::string field `config`, the flag that names the file. Errors(failed) name the flag, or file, line
// and column, and the expected value; both aggregates are then unspecified. A field that differs from the earlier run
// is such an error, unless it is marked with lp::changeable. For lp's own flags this applies only to those that the
// earlier values name.
CommandLine parse(int argc, const char* const* argv, const Binding& program, const Binding& launch,
                  const HelpSections& sections = {}, const FindEarlier& find_earlier = {});

// The text of an error about a flag, which begins with it. If only the file gives the flag, the text begins with the
// place there instead: "file:line:column: path ...".
std::string with_place(const CommandLine& line, const std::string& text);

// Compares the program's values with those of a run whose state they take over. Throws Error::failed for a field that
// differs, unless it is marked with lp::adaptable or lp::changeable; the values are then unspecified.
void check_adapted(const Binding& program, const EarlierValues& earlier);

// Returns the text of --help: the program's flags, of these sections if there are any, then lp's, in 100 columns.
std::string help_text(const std::string& program_name, const Binding& program, const Binding& launch,
                      std::span<const HelpSection> sections = {});

}  // namespace lp
