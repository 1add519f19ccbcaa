#pragma once
// The output of node processes. It goes into one log for each, and to the terminal line by line with the node's name in
// front. The last lines of standard error are kept for the cause of a failure.
//
// The loop thread of a run owns and uses it.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "launchers/os/terminal.h"
#include "launchers/record/node_log.h"
#include "lp/base/function.h"

namespace lp::launch {

// Cuts a stream of bytes into lines. A line that grows too long is split into several lines.
class LineCutter {
 public:
  static constexpr std::size_t kLongest = std::size_t{1} << 16;

  void feed(std::string_view bytes, Function<void(std::string_view line)> take);
  void finish(Function<void(std::string_view line)> take);  // passes on the last line if it has no line end

 private:
  std::string rest_;
};

class NodeOutput {
 public:
  struct Options {
    std::filesystem::path logs{};  // the logs' directory; empty: no logs
    std::uint64_t log_bytes = 0;   // the limit for each node
    bool lines = true;             // print lines to the terminal
    bool all_to_error = false;     // print to standard error alone, because standard output is for a result
  };

  // `processes` are the names that stand in front of lines. `terminal` may be null.
  NodeOutput(std::vector<std::string> processes, Options options, Terminal* terminal);

  void begin(std::size_t process);  // it starts, so the last lines of its earlier incarnation are forgotten
  void take(std::size_t process, bool error, std::string_view bytes);
  void finish(std::size_t process);  // it has ended, so a rest without a line end becomes a line

  // Returns the last lines that the process wrote to standard error, oldest first.
  std::vector<std::string> last_lines(std::size_t process) const;
  // Returns "process/0.log" below the logs' directory.
  static std::filesystem::path log_name(const std::string& process);

 private:
  struct Process {
    std::string name;
    NodeLog log;
    LineCutter cutters[2];
    std::deque<std::string> last;
  };
  void show(std::size_t process, bool error, std::string_view line);

  Options options_;
  Terminal* terminal_;
  std::vector<Process> processes_;
  std::size_t width_ = 0;  // the length of the longest name
  bool log_failed_ = false;
};

// Makes bytes safe for a terminal: control characters, marks of direction and bytes that are not UTF-8 become \xNN.
// Colours (escape [ ... m) and tabs stay.
std::string printable(std::string_view line);
// Does the same for a word inside a line of another writer: colours and tabs are replaced, too.
std::string printable_word(std::string_view word);

}  // namespace lp::launch
