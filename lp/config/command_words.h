#pragma once
// Splits a command line into flags and other words. Programs and the lp command share its rules; Boost.Program_options
// does the work. Values and a function; any thread.
//
// A long flag begins with "--", and underscores of its name count as dashes. Its value follows "=", or is the next word
// unless that begins with "--". A flag of one letter begins with "-"; its value follows at once, or is the next word.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lp::internal {

// A flag that may be given.
struct FlagSyntax {
  enum class Value { none, optional, needed };  // optional: only after "="

  std::string name{};  // "learning-rate"
  char letter = 0;     // 'f', for -f; 0: none
  Value value = Value::needed;
};

// A flag that was given.
struct GivenFlag {
  std::size_t flag = 0;  // index of its syntax
  std::optional<std::string> value{};
};

struct CommandWords {
  std::vector<GivenFlag> flags{};
  std::vector<std::string> words{};                // unknown flags, and words that belong to no flag
  std::optional<std::vector<std::string>> rest{};  // the words after "--"; nothing if there is no "--"
};

// The mistake of a known flag, which the caller puts into words.
struct FlagMistake {
  std::size_t flag = 0;
  bool lacks_value = false;  // else it has one and takes none
};

// Throws FlagMistake.
CommandWords split_command_words(std::span<const std::string> words, std::span<const FlagSyntax> flags);

// Returns the name in a word that looks like a long flag, as FlagSyntax has it: "learning-rate" for
// "--learning_rate=3".
std::string flag_name(const std::string& word);

}  // namespace lp::internal
