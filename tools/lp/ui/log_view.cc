#include "tools/lp/ui/log_view.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "launchers/record/node_output.h"
#include "lp/base/error.h"
#include "lp/base/json.h"
#include "tools/lp/command_error.h"
#include "tools/lp/file_watcher.h"
#include "tools/lp/ui/live_lines.h"
#include "tools/lp/views/pattern.h"
#include "tools/lp/views/run_logs.h"

namespace lp::tool {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);  // between two lots of lines
constexpr auto kQuestionPause =
    std::chrono::milliseconds(100);  // between two questions whether the reader is still there

// The newest lines of several logs.
class Lot {
 public:
  explicit Lot(std::size_t most) : most_(most) {}

  void add(std::size_t log, const LogLine& line) {
    std::string_view text = line.text;
    if (text.size() > kLongestLine) text = text.substr(0, kLongestLine);
    lines_.push_back({log, line.latest, std::string(text)});
    if (lines_.size() <= most_) return;
    lines_.pop_front();
    ++left_out_;
  }
  // Keeps the newest ones of two lots.
  void add(Lot&& other) {
    std::move(other.lines_.begin(), other.lines_.end(), std::back_inserter(lines_));
    left_out_ += other.left_out_;
  }
  // Puts lines of different logs into the order of time, as far as that is known.
  void sort() {
    std::stable_sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.time < b.time; });
  }

  bool empty() const { return lines_.empty(); }
  std::string json() const {
    JsonWriter json;
    json.begin_object();
    json.key("lines");
    json.begin_array();
    for (const Line& line : lines_) {
      json.begin_array();
      json.number(std::uint64_t{line.log});
      json.string(launch::printable(line.text));
      json.end_array();
    }
    json.end_array();
    json.member("left_out", left_out_);
    json.end_object();
    return std::move(json).text();
  }

 private:
  struct Line {
    std::size_t log;
    double time;
    std::string text;
  };
  const std::size_t most_;
  std::deque<Line> lines_;
  std::size_t left_out_ = 0;
};

std::string names_line(const std::vector<RunLogs::Log>& logs) {
  JsonWriter json;
  json.begin_object();
  json.key("logs");
  json.begin_array();
  for (const RunLogs::Log& log : logs) json.string(log.name);
  json.end_array();
  json.end_object();
  return std::move(json).text();
}

class LogView {
 public:
  LogView(const RunLocation& place, const LogRequest& request, LineSink& out)
      : logs_(view_of(place), request.nodes, true), changes_(logs_.directory() / "logs"), out_(out) {
    if (!request.pattern.empty()) pattern_.emplace(request.pattern, request.ignore_case);
  }

  void show() {
    reads_ = out_.write(names_line(logs_.logs()));
    bool more = logs_.update();
    Lot first(kFirstLines);
    const std::size_t each = std::max<std::size_t>(20, kFirstLines / std::max<std::size_t>(logs_.logs().size(), 1));
    for (std::size_t i = 0; i < logs_.logs().size(); ++i) {
      Lot own(each);
      read(i, !more, own);
      first.add(std::move(own));
    }
    first.sort();
    reads_ = reads_ && out_.write(first.json());
    while (more && reads_) {
      changes_.wait(logs_.fd());
      more = logs_.update();
      Lot lot(kLinesAtOnce);
      for (std::size_t i = 0; i < logs_.logs().size(); ++i) read(i, !more, lot);
      reads_ = reads_ && out_.write(lot.empty() ? std::string() : lot.json()) && out_.wait(kPause);
    }
  }

 private:
  // A search in much text must not outlive its reader.
  bool still_reads() {
    if (reads_ && passed(next_ask_)) {
      reads_ = out_.write({});
      next_ask_ = after(kQuestionPause);
    }
    return reads_;
  }
  void read(std::size_t log, bool ended, Lot& into) {
    if (!reads_) return;
    const auto take = [&](const LogLine& line) {
      if (still_reads() && (!pattern_.has_value() || pattern_->matches(line.text))) into.add(log, line);
    };
    LogReader& reader = logs_.logs()[log].reader;
    if (ended) {
      reader.finish(take);
    } else {
      reader.read(take);
    }
  }

  RunLogs logs_;
  FileWatcher changes_;
  LineSink& out_;
  std::optional<Pattern> pattern_;
  bool reads_ = true;  // the reader has not left
  Time next_ask_{};
};

}  // namespace

void show_logs(const RunLocation& place, const LogRequest& request, LineSink& out) {
  try {
    LogView(place, request, out).show();
  } catch (const CommandError& error) {
    out.write(trouble_line(error.what()));
  } catch (const Error& error) {
    out.write(trouble_line(error.text()));
  }
}

}  // namespace lp::tool
