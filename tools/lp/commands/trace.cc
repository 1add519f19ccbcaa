// lp trace: records what the nodes of a live run do, as a file for Perfetto and chrome://tracing.

#include "tools/lp/trace/trace.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launchers/os/signals.h"
#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/base/file.h"
#include "lp/base/json.h"
#include "lp/base/text.h"
#include "tools/lp/command.h"
#include "tools/lp/plan_file.h"
#include "tools/lp/run_requests.h"
#include "tools/lp/trace/gaps.h"
#include "tools/lp/trace/trace_json.h"
#include "tools/lp/views/events.h"

namespace lp::tool {
namespace {

// Between two questions to all processes. By default a thread records so little that its ring has room for longer.
constexpr auto kBetweenAnswers = std::chrono::milliseconds(500);
constexpr auto kBetweenAnswersOfShare = std::chrono::milliseconds(100);
constexpr auto kBetweenLast = std::chrono::milliseconds(100);
constexpr auto kBetweenStatus = std::chrono::seconds(1);
constexpr auto kLongestEnd = std::chrono::seconds(2);  // for calls that were begun in time
constexpr std::size_t kShownGaps = 10;
constexpr std::size_t kMostRecorded = 1'000'000;  // viewers do not open much more

// The share that was given; nothing: all, within the bound for a thread.
std::optional<double> share_of(const Arguments& arguments) {
  if (!arguments.has("sample")) return std::nullopt;
  const std::string text = arguments.value("sample");
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc() || end != text.data() + text.size() || !(share > 0 && share <= 1)) {
    throw CommandError(Exit::usage, "--sample=" + text + ": a share is a number above 0, and 1 at most, as 0.01");
  }
  return share;
}

std::string name_of(RunEvent::Kind kind) {
  switch (kind) {
    case RunEvent::Kind::cut: return "checkpoint";
    case RunEvent::Kind::cut_failed: return "checkpoint failed";
    default: return std::string(enum_name(kind));
  }
}

// Records a run through its admin socket.
class Tracer {
 public:
  Tracer(launch::AdminClient& client, const RunLocation& run, std::optional<double> share)
      : client_(client), share_(share), trace_{.run = run.name} {
    const Plan plan = plan_of(run);
    for (const PlanNode& node : plan.nodes) {
      numbers_.emplace(node.name, static_cast<std::uint32_t>(trace_.nodes.size()));
      trace_.nodes.push_back({.name = node.name});
    }
  }

  // Returns when the time is over, after Ctrl-C, when there is too much, or when the run has ended. Calls begun() when
  // all processes record.
  template <class Begun>
  void record(Duration duration, Begun begun) {
    launch::SignalPoller signals;
    const Time end = after(duration);
    try {
      for (bool first = true; !passed(end) && !full() && signals.take() == 0; first = false) {
        const bool more = take_spans(share_.value_or(1));
        if (first) begun();
        take_status();
        if (!more && !wait(std::min<Duration>(pause(), until(end)))) {
          ended_ = !passed(end);
          return;
        }
      }
      for (const Time last = after(kLongestEnd); !passed(last) && !full();) {
        const bool more = take_spans(0);
        if (recording_.quiet() && recording_.silent().empty()) return;
        if (!more && !wait(kBetweenLast)) return;
      }
    } catch (const CommandError& error) {
      if (error.code() != Exit::not_live || !recording_.begin().has_value()) throw;
      ended_ = !passed(end);
    }
  }

  // Throws CommandError when there is nothing, because no node has answered.
  void check_answers() const {
    if (recording_.answered() || recording_.silent().empty()) return;
    throw CommandError(Exit::timed_out, names_text(recording_.silent()) +
                                            " did not answer, so there is no trace: is the host suspended, or cut "
                                            "off? `lp why " +
                                            trace_.run + "` says more");
  }

  // How much was recorded before the run ended; nothing: the run has not ended too early.
  std::optional<Duration> shortened_to() const {
    if (!ended_) return std::nullopt;
    return recording_.end() - recording_.begin().value_or(recording_.end());
  }

  bool full() const { return recording_.size() >= kMostRecorded; }

  // The trace with the events of the run. Call it once.
  Trace finish(const std::vector<RunEvent>& events) {
    for (const RunEvent& event : events) {
      const Time at = recording_.time_of(event.time);
      if (!recording_.begin().has_value() || at < *recording_.begin()) continue;
      const auto node = numbers_.find(event.node);
      trace_.marks.push_back({.at = at,
                              .node = node == numbers_.end() ? SpanRecord::kNobody : node->second,
                              .name = name_of(event.kind),
                              .text = event.node.empty() ? event.text : event.node + ": " + event.text});
    }
    recording_.move_to(trace_);
    return std::move(trace_);
  }

 private:
  Duration pause() const { return share_.has_value() ? kBetweenAnswersOfShare : kBetweenAnswers; }

  bool take_spans(double share) {
    JsonWriter request;
    request.begin_object();
    request.member("ask", "spans");
    request.member("share", share);
    request.member("bounded", !share_.has_value());
    request.end_object();
    return recording_.add(from_json<SpansRecord>(ask(client_, std::move(request).text())));
  }

  // Returns false when the run has ended meanwhile. A run that ends sends the last spans without a request.
  bool wait(Duration duration) {
    if (const auto line = client_.next(after(duration)))
      recording_.add(from_json<SpansRecord>(JsonValue::parse(*line)));
    return client_.open();
  }

  // Now and then, takes the progress of the nodes, and their hosts.
  void take_status() {
    if (!passed(next_status_)) return;
    next_status_ = after(kBetweenStatus);
    const JsonValue answer = ask(client_, R"({"ask":"status"})");
    if (answer.find("clock") != nullptr) {  // the run ends, and these are its last spans
      recording_.add(from_json<SpansRecord>(answer));
      return;
    }
    const auto status = from_json<RunStatus>(answer);
    for (const NodeStatus& node : status.nodes) {
      const auto number = numbers_.find(node.name);
      if (number == numbers_.end()) continue;
      trace_.nodes[number->second].host = node.host;
      if (node.step == 0 || std::exchange(steps_[number->second], node.step) == node.step) continue;
      const auto add = [&](const std::string& name, double value) {
        trace_.values.push_back({.at = recording_.end(), .node = number->second, .name = name, .value = value});
      };
      add("step", static_cast<double>(node.step));
      for (const auto& [name, value] : node.values) add(name, value);
    }
  }

  launch::AdminClient& client_;
  const std::optional<double> share_;
  Trace trace_;
  Recording recording_;
  std::map<std::string, std::uint32_t> numbers_;  // nodes by name
  std::map<std::uint32_t, std::uint64_t> steps_;  // by node
  Time next_status_{};
  bool ended_ = false;  // the run, before the time was over
};

// How a recording ended.
struct Ending {
  bool full = false;
  Duration asked{};
  std::optional<Duration> shortened_to{};  // because the run ended; nothing: it has not
};

std::string length_text(Duration duration) {
  return duration_text(std::chrono::round<std::chrono::milliseconds>(duration));
}

std::string summary(const Trace& trace, const std::string& file, const Ending& ending) {
  std::string text = file + ": " + std::to_string(trace.spans.size()) + " spans of " +
                     std::to_string(trace.nodes.size()) + " nodes; open it in https://ui.perfetto.dev\n";
  if (ending.full) text += "There were too many: it ends early. Record fewer of them, as with --sample=0.01\n";
  if (trace.lost > 0) {
    text += std::to_string(trace.lost) +
            " more spans are lost, because they came too fast: record fewer, as with "
            "--sample=0.01\n";
  }
  const std::vector<std::string> gaps = gap_texts(trace);
  for (std::size_t i = 0; i < std::min(gaps.size(), kShownGaps); ++i) text += gaps[i] + "\n";
  if (gaps.size() > kShownGaps) {
    text += std::to_string(gaps.size() - kShownGaps) + " more such lines are in the file, below otherData\n";
  }
  if (ending.shortened_to.has_value()) {
    text += "The run ended after " + length_text(*ending.shortened_to) + ": the trace is shorter than the " +
            duration_text(ending.asked) + " of --for\n";
  }
  return text;
}

std::string summary_json(const Trace& trace, const std::string& file, const Ending& ending) {
  JsonWriter json;
  json.begin_object();
  json.member("file", file);
  json.member("spans", trace.spans.size());
  json.member("lost", trace.lost);
  json.member("missing", gap_texts(trace));
  json.member("full", ending.full);
  json.member("ended", ending.shortened_to.has_value());
  json.member("clock_error", to_seconds(trace.clock_error));
  json.end_object();
  return std::move(json).text() + "\n";
}

}  // namespace

int trace_command(const Arguments& arguments, Screen& screen) {
  const Duration duration = from_seconds(arguments.seconds("for", 10));
  if (duration <= Duration::zero()) {
    throw CommandError(Exit::usage, "--for=" + arguments.value("for") + ": a trace takes more than no time");
  }
  const std::string file = arguments.has("output") ? arguments.value("output") : "trace.json";
  const std::optional<double> share = share_of(arguments);
  check_output(file);  // before a long recording, which would be lost
  const RunView run = view_of(find_run(arguments.words()[0]));
  launch::AdminClient client = connect_to(run);
  Tracer tracer(client, run.place, share);
  tracer.record(duration, [&] {
    const std::string note =
        "recording " + run.place.name + " for " + duration_text(duration) + "; Ctrl-C ends it early\n";
    std::fputs(note.c_str(), stderr);
  });
  tracer.check_answers();
  const Ending ending{.full = tracer.full(), .asked = duration, .shortened_to = tracer.shortened_to()};
  Trace trace = tracer.finish(events_of(run.place));
  trace.launcher_lost = ending.shortened_to.has_value() && view_of(run.place).life == Life::lost;
  write_file(file, trace_json(trace));
  screen.write(arguments.has("json") ? summary_json(trace, file, ending) : summary(trace, file, ending));
  return code_of(Exit::done);
}

}  // namespace lp::tool
