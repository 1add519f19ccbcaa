// lp logs: prints the output of nodes, and follows it.

#include <regex.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/admin/admin_client.h"
#include "launchers/record/node_output.h"
#include "lp/base/json.h"
#include "tools/lp/changes.h"
#include "tools/lp/command.h"
#include "tools/lp/log_reader.h"
#include "tools/lp/mirror.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/runs.h"

namespace lp::tool {
namespace {

// An extended regular expression of POSIX. Unlike std::regex, it does not run out of stack on long lines.
class Pattern {
 public:
  Pattern(const std::string& text, bool ignore_case) {
    const int error = regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
    if (error == 0) return;
    std::array<char, 256> why{};
    regerror(error, &compiled_, why.data(), why.size());
    throw Refusal(Exit::usage, "--grep=" + text + ": " + why.data());
  }
  ~Pattern() { regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool matches(std::string_view line) const {
    regmatch_t range{.rm_so = 0, .rm_eo = static_cast<regoff_t>(line.size())};
    return regexec(&compiled_, line.data(), 1, &range, REG_STARTEND) == 0;
  }

 private:
  regex_t compiled_{};
};

// The log of one process, and the filter for its lines.
struct Source {
  std::string name;
  LogReader reader;
};

class Logs {
 public:
  Logs(const Arguments& arguments, Screen& screen) : screen_(screen), json_(arguments.has("json")) {
    if (arguments.has("grep"))
      pattern_ = std::make_unique<Pattern>(arguments.value("grep"), arguments.has("ignore-case"));
    if (arguments.has("since")) {
      since_ = static_cast<double>(wall_clock()) / 1e9 - arguments.seconds("since", 0);
    }
    if (arguments.has("lines")) last_ = static_cast<std::size_t>(count_of(arguments.value("lines")));
  }

  void add(const std::string& name, const std::filesystem::path& path) {
    width_ = std::max(width_, name.size());
    sources_.push_back(std::make_unique<Source>(Source{name, LogReader(path)}));
  }

  // Shows the present lines; if a number was requested, only that many last lines of each process.
  bool show_first(bool ended) {
    for (const auto& source : sources_) {
      std::deque<std::string> lines;
      const auto take = [&](const LogLine& line) {
        if (!wanted(line)) return;
        if (last_ == kAll) {
          show(*source, line.text);
        } else if (last_ > 0) {
          if (lines.size() == last_) lines.pop_front();
          lines.emplace_back(line.text);
        }
      };
      read(*source, ended, take);
      for (const std::string& line : lines) show(*source, line);
    }
    return flush();
  }
  // Shows new lines. Returns false when the reader has closed the output.
  bool show_more(bool ended) {
    for (const auto& source : sources_) {
      read(*source, ended, [&](const LogLine& line) {
        if (wanted(line)) show(*source, line.text);
      });
    }
    return flush();
  }

 private:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kBatch = std::size_t{1} << 16;

  static int count_of(const std::string& text) {
    const double number = parse_seconds(text);
    if (number < 0 || number > 1e9) throw Refusal(Exit::usage, "--lines=" + text + ": expected a number of lines");
    return static_cast<int>(number);
  }

  static void read(Source& source, bool ended, LogReader::Take take) {
    if (ended) {
      source.reader.finish(std::move(take));
    } else {
      source.reader.read(std::move(take));
    }
  }

  bool wanted(const LogLine& line) const {
    return line.latest >= since_ && (pattern_ == nullptr || pattern_->matches(line.text));
  }

  void show(const Source& source, std::string_view line) {
    if (json_) {
      JsonWriter json;
      json.begin_object();
      json.member("node", source.name);
      json.member("line", line);
      json.end_object();
      text_ += std::move(json).text() + "\n";
    } else {
      if (sources_.size() > 1) {
        std::string prefix = source.name;
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

  Screen& screen_;
  const bool json_;
  std::unique_ptr<Pattern> pattern_;
  double since_ = 0;  // seconds since 1970
  std::size_t last_ = kAll;
  std::size_t width_ = 0;
  std::vector<std::unique_ptr<Source>> sources_;
  std::string text_;
};

}  // namespace

int logs_command(const Arguments& arguments, Screen& screen) {
  const RunView run = view_of(find_run(arguments.words()[0]));
  const Plan plan = plan_of(run.place);
  Logs logs(arguments, screen);
  if (run.record.launch == "threads") {
    throw Refusal(
        Exit::failed,
        run.place.name + " has no logs: its nodes are threads, whose output goes to the output of their launcher");
  }
  std::vector<bool> wanted(plan.processes, arguments.words().size() == 1);
  for (std::size_t i = 1; i < arguments.words().size(); ++i) {
    for (const NodeId node : find_nodes(plan, arguments.words()[i])) wanted[plan.nodes[node].process] = true;
  }
  const bool follow = arguments.has("follow");
  const bool here = run.life != Life::elsewhere || std::filesystem::exists(run.place.directory / "status.json");
  if (here && run.jobs != nullptr && run.jobs->keeps_files()) {
    throw Refusal(Exit::not_live, run.place.name + ": its logs were on the host of its coordinator, which has ended; " +
                                      "to see the output of a run, launch it without --submit");
  }
  std::optional<Mirror> mirror;
  if (!here) mirror.emplace(connect_to(run));
  const std::filesystem::path directory = mirror.has_value() ? mirror->directory() : run.place.directory;
  std::set<std::size_t> added;
  for (const PlanNode& node : plan.nodes) {  // the first node of a process gives its log the name
    if (!wanted[node.process] || !added.insert(node.process).second) continue;
    const std::filesystem::path log = "logs" / launch::NodeOutput::log_name(node.name);
    if (mirror.has_value()) mirror->add(log);
    logs.add(node.name, directory / log);
  }
  Changes changes(directory / "logs");
  launch::AdminClient live = follow && here ? try_to_connect(run) : launch::AdminClient(run.place.directory);
  const auto goes_on = [&] { return mirror.has_value() ? mirror->update() : live.open(); };
  bool more = goes_on() && follow;
  if (!logs.show_first(!more)) more = false;
  while (more) {
    changes.wait(mirror.has_value() ? mirror->fd() : live.fd());
    while (live.next(Time()).has_value()) {
    }
    more = goes_on();
    if (!logs.show_more(!more)) break;
  }
  return code_of(Exit::done);
}

}  // namespace lp::tool
