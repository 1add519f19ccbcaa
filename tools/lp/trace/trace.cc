#include "tools/lp/trace/trace.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lp/base/error.h"

namespace lp::tool {
namespace {

using SpanKind = SpanRecord::Kind;

bool is_call(const SpanRecord& span) { return span.kind == SpanKind::call || span.kind == SpanKind::sent; }

// When everything of a span is over.
Time end_of(const SpanRecord& span) {
  return span.kind == SpanKind::handler ? std::max(span.end, span.replied) : span.end;
}

void move_times(SpanRecord& span, Duration by) {
  span.begin += by;
  span.end += by;
  if (span.kind != SpanKind::handler) return;
  span.arrived += by;
  span.replied += by;
}

void clamp_times(SpanRecord& span, Time from, Time to) {
  const auto clamp = [&](Time& time) { time = std::clamp(time, from, std::max(from, to)); };
  clamp(span.begin);
  clamp(span.end);
  if (span.kind != SpanKind::handler) return;
  clamp(span.arrived);
  clamp(span.replied);
}

}  // namespace

Time begin_of(const Trace& trace) {
  Time begin = Time::max();
  for (const SpanRecord& span : trace.spans) begin = std::min(begin, span.begin);
  for (const Trace::Mark& mark : trace.marks) begin = std::min(begin, mark.at);
  for (const Trace::Value& value : trace.values) begin = std::min(begin, value.at);
  return begin;
}

bool Recording::add(const SpansRecord& answer) {
  const std::size_t here = clocks_.number_of(answer.clock);
  end_ = Time(Duration(answer.time));
  if (!begin_.has_value()) begin_ = end_;
  wall_ahead_ = Duration(answer.wall - answer.time);
  quiet_ = true;
  bool more = false;
  for (const SpansRecord::Process& process : answer.processes) {
    launch::ProcessSpans spans = launch::unpack_spans(process.spans);
    const std::size_t there = clocks_.number_of(spans.clock);
    clocks_.add_message(here, there, spans.sent, spans.arrived);
    clocks_.add_message(there, here, spans.answered, Time(Duration(process.came)));
    lost_ += spans.recorded.lost;
    for (const std::string& node : process.nodes) answered_[node] = Time(Duration(process.came));
    more = more || spans.recorded.records.size() >= answer.most;
    quiet_ = quiet_ && spans.recorded.records.empty();
    spans_.insert(spans_.end(), spans.recorded.records.begin(), spans.recorded.records.end());
    clock_of_.resize(spans_.size(), there);
  }
  silent_ = answer.silent;
  for (const SpansRecord::Lost& lost : answer.lost) {
    gaps_.push_back({.nodes = lost.nodes, .since = Time(Duration(lost.since)), .ended = Time(Duration(lost.ended))});
  }
  return more;
}

// Nodes with the same last answer share a gap.
void Recording::add_silent_to(Trace& trace) const {
  std::map<std::optional<Time>, std::vector<std::string>> silent;
  for (const std::string& node : silent_) {
    const auto at = answered_.find(node);
    silent[at == answered_.end() ? std::nullopt : std::optional(at->second)].push_back(node);
  }
  for (auto& [since, nodes] : silent) {
    trace.gaps.push_back({.nodes = std::move(nodes), .answered = since.has_value(), .since = since.value_or(Time())});
  }
}

Time Recording::time_of(double wall) const { return Time(from_seconds(wall) - wall_ahead_); }

Recording::Index Recording::calls() const {
  Index calls;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (is_call(spans_[i])) calls.emplace(spans_[i].id, i);
  }
  return calls;
}

// A call that has failed may have ended before its handler.
void Recording::bound_by_calls(const Index& calls) {
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const SpanRecord& handler = spans_[i];
    const auto at = handler.kind == SpanKind::handler ? calls.find(handler.id) : calls.end();
    if (at == calls.end()) continue;
    const SpanRecord& call = spans_[at->second];
    clocks_.add_message(clock_of_[at->second], clock_of_[i], call.begin, handler.arrived);
    if (call.kind == SpanKind::call && !call.failed && !handler.failed) {
      clocks_.add_message(clock_of_[i], clock_of_[at->second], handler.replied, call.end);
    }
  }
}

// Where clocks drift, a handler may still lie outside its call, by no more than the error of their clocks. It is put
// inside, and with it the spans within it.
void Recording::keep_inside(const Index& calls) {
  std::vector<std::size_t> by_begin(spans_.size());
  std::iota(by_begin.begin(), by_begin.end(), std::size_t{0});
  std::stable_sort(by_begin.begin(), by_begin.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(spans_[a].begin, spans_[b].end) < std::pair(spans_[b].begin, spans_[a].end);
  });
  const std::vector<SpanRecord> before = spans_;
  Index outer;  // handlers, and spans of programs
  for (const std::size_t i : by_begin) {
    SpanRecord& span = spans_[i];
    if (span.kind == SpanKind::handler) {
      if (const auto at = calls.find(span.id); at != calls.end()) {
        const SpanRecord& call = spans_[at->second];
        clamp_times(span, call.begin, call.kind == SpanKind::call && !call.failed ? call.end : Time::max());
      }
    } else if (const auto at = outer.find(span.parent); at != outer.end() && clock_of_[i] == clock_of_[at->second]) {
      const SpanRecord& around = before[at->second];
      if (around.begin <= before[i].begin && before[i].end <= end_of(around)) {
        clamp_times(span, spans_[at->second].begin, end_of(spans_[at->second]));
      }
    }
    if (!is_call(span)) outer.emplace(span.id, i);
  }
}

void Recording::move_to(Trace& trace) {
  const Index all_calls = calls();
  bound_by_calls(all_calls);
  const std::vector<Clocks::Offset> offsets = clocks_.offsets();
  for (std::size_t i = 0; i < spans_.size(); ++i) move_times(spans_[i], offsets[clock_of_[i]].offset);
  for (const Clocks::Offset& one : offsets) trace.clock_error = std::max(trace.clock_error, one.error);
  if (offsets.size() > 1) keep_inside(all_calls);
  trace.spans = std::move(spans_);
  trace.lost = lost_;
  trace.gaps = std::move(gaps_);
  add_silent_to(trace);
}

}  // namespace lp::tool
