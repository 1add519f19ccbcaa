#pragma once
// What node processes print: into a log each, and, line by line with the node's name in front, to the terminal. Keeps
// the last lines of standard error, for the cause of a failure.
//
// Owned and used by the loop thread of a run.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/os/terminal.h"
#include "launchers/record/node_log.h"
#include "lp/base/function.h"

namespace lp::internal {

// Cuts a stream of bytes into lines. A line that grows too long is given in parts, as a line each.
class LineCutter {
 public:
  static constexpr std::size_t kLongest = std::size_t{1} << 16;

  void feed(std::string_view bytes, Function<void(std::string_view line)> take);
  void finish(Function<void(std::string_view line)> take);  // the last line, when it has no end

 private:
  std::string rest_;
};

class Output {
 public:
  struct Options {
    std::filesystem::path logs{};  // the directory; empty: no logs
    std::uint64_t log_bytes = 0;   // of each node
    bool lines = true;             // to the terminal
    bool all_to_error = false;     // standard output is kept for a result
  };

  // `units` are the names to put in front. `terminal` may be null.
  Output(std::vector<std::string> units, Options options, Terminal* terminal);

  void begin(std::size_t unit);  // a process of it is started: what another wrote last is not its own
  void take(std::size_t unit, bool error, std::string_view bytes);
  void finish(std::size_t unit);  // its process has ended: the rest without a line end is a line too

  // The last lines that the unit wrote to standard error, oldest first.
  std::vector<std::string> last_lines(std::size_t unit) const;
  // "unit/0.log" below the logs' directory.
  static std::filesystem::path log_name(const std::string& unit);

 private:
  struct Unit {
    std::string name;
    NodeLog log;
    LineCutter cutters[2];
    std::deque<std::string> last;
  };
  void show(std::size_t unit, bool error, std::string_view line);

  Options options_;
  Terminal* terminal_;
  std::vector<Unit> units_;
  std::size_t width_ = 0;  // of the longest name
  bool log_failed_ = false;
};

// Bytes for a terminal: control characters and what is not UTF-8 as \xNN. Colours (escape [ ... m) and tabs stay.
std::string printable(std::string_view line);
// The same for a word in a line that is not its writer's own: neither colours nor tabs.
std::string printable_word(std::string_view word);

}  // namespace lp::internal
