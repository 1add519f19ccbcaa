// lp logs: prints the output of nodes, and follows it.

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "launchers/record/node_output.h"
#include "lp/base/json.h"
#include "tools/lp/command.h"
#include "tools/lp/file_watcher.h"
#include "tools/lp/views/pattern.h"
#include "tools/lp/views/run_logs.h"

namespace lp::tool {
namespace {

// Prints the lines of logs that are wanted.
class LogPrinter {
 public:
  LogPrinter(RunLogs& logs, const Arguments& arguments, Screen& screen)
      : logs_(logs), screen_(screen), json_(arguments.has("json")) {
    if (arguments.has("grep")) pattern_.emplace(arguments.value("grep"), arguments.has("ignore-case"));
    if (arguments.has("since")) {
      since_ = static_cast<double>(wall_clock()) / 1e9 - arguments.seconds("since", 0);
    }
    if (arguments.has("lines")) last_ = static_cast<std::size_t>(count_of(arguments.value("lines")));
    for (const RunLogs::Log& log : logs.logs()) width_ = std::max(width_, log.name.size());
  }

  // Shows the present lines; if a number was requested, only that many last lines of each process.
  bool show_first(bool ended) {
    for (RunLogs::Log& log : logs_.logs()) {
      std::deque<std::string> lines;
      const auto take = [&](const LogLine& line) {
        if (!wanted(line)) return;
        if (last_ == kAll) {
          show(log, line.text);
        } else if (last_ > 0) {
          if (lines.size() == last_) lines.pop_front();
          lines.emplace_back(line.text);
        }
      };
      read(log, ended, take);
      for (const std::string& line : lines) show(log, line);
    }
    return flush();
  }
  // Shows new lines. Returns false when the reader has closed the output.
  bool show_more(bool ended) {
    for (RunLogs::Log& log : logs_.logs()) {
      read(log, ended, [&](const LogLine& line) {
        if (wanted(line)) show(log, line.text);
      });
    }
    return flush();
  }

 private:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kBatch = std::size_t{1} << 16;

  static int count_of(const std::string& text) {
    const double number = parse_seconds(text);
    if (number < 0 || number > 1e9) throw CommandError(Exit::usage, "--lines=" + text + ": expected a number of lines");
    return static_cast<int>(number);
  }

  static void read(RunLogs::Log& log, bool ended, LogReader::Take take) {
    if (ended) {
      log.reader.finish(std::move(take));
    } else {
      log.reader.read(std::move(take));
    }
  }

  bool wanted(const LogLine& line) const {
    return line.latest >= since_ && (!pattern_.has_value() || pattern_->matches(line.text));
  }

  void show(const RunLogs::Log& log, std::string_view line) {
    if (json_) {
      JsonWriter json;
      json.begin_object();
      json.member("node", log.name);
      json.member("line", line);
      json.end_object();
      text_ += std::move(json).text() + "\n";
    } else {
      if (logs_.logs().size() > 1) {
        std::string prefix = log.name;
        prefix.resize(width_, ' ');
        text_ += (screen_.colours() ? "\033[36m" + prefix + " | \033[0m" : prefix + " | ");
      }
      // The output of a node must not control the terminal.
      text_ += screen_.is_terminal() ? launch::printable(line) : std::string(line);
      text_ += '\n';
    }
    if (text_.size() > kBatch) flush();
  }

  bool flush() {
    const bool done = screen_.write(text_);
    text_.clear();
    return done;
  }

  RunLogs& logs_;
  Screen& screen_;
  const bool json_;
  std::optional<Pattern> pattern_;
  double since_ = 0;  // seconds since 1970
  std::size_t last_ = kAll;
  std::size_t width_ = 0;
  std::string text_;
};

}  // namespace

int logs_command(const Arguments& arguments, Screen& screen) {
  const RunView run = view_of(find_run(arguments.words()[0]));
  const bool follow = arguments.has("follow");
  RunLogs logs(run, std::span(arguments.words()).subspan(1), follow);
  LogPrinter printer(logs, arguments, screen);
  FileWatcher changes(logs.directory() / "logs");
  bool more = logs.update() && follow;
  if (!printer.show_first(!more)) more = false;
  while (more) {
    changes.wait(logs.fd());
    more = logs.update();
    if (!printer.show_more(!more)) break;
  }
  return code_of(Exit::done);
}

}  // namespace lp::tool
