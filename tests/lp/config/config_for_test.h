#pragma once
// A configuration with a field of every sort, and flags like lp's own.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lp/base/error.h"
#include "lp/config/config.h"
#include "lp/config/parse_flags.h"

namespace lp::test {

enum class Optimizer { sgd, adam, null };

struct Model {
  int hidden_size = 64;
  std::vector<int> layers{3, 4};

  static constexpr auto fields = lp::fields(lp::field("layers", "units of each layer", lp::at_least(1)));
};

struct Config {
  int workers = 4;
  double rate = 0.1;
  bool shuffle = false;
  std::string name = "run";
  std::vector<std::string> files{};
  std::optional<int> steps{};
  std::uint64_t big = 7;
  Optimizer optimizer = Optimizer::sgd;
  Model model{};

  static constexpr auto fields =
      lp::fields(lp::field("workers", "number of workers", lp::range(1, 1024)),
                 lp::field("rate", "learning rate", lp::positive), lp::field("steps", "stop after so many steps"));
};

struct LaunchFlags {
  std::string launch = "threads";
  std::string config{};
  std::uint32_t seed = 1;
  bool dry_run = false;

  static constexpr auto fields = lp::fields(lp::field("launch", "what runs the nodes"));
};

struct Parsed {
  Config config{};
  LaunchFlags flags{};
  CommandLine line{};
};

inline Parsed parse_words(std::vector<const char*> words) {
  words.insert(words.begin(), "/bin/digits");
  Parsed parsed;
  parsed.line = parse(static_cast<int>(words.size()), words.data(), bind(parsed.config), bind(parsed.flags));
  return parsed;
}

// The text of the Error (failed) that f throws.
template <class F>
std::string failure(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::failed ? error.text() : "an error of another kind";
  }
  return "no error";
}

inline std::string parse_failure(const std::vector<const char*>& words) {
  return failure([&] { parse_words(words); });
}

}  // namespace lp::test
