#include "tools/lp/trace/trace_json.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lp/base/enums.h"
#include "lp/base/json.h"
#include "tools/lp/trace/gaps.h"
#include "tools/lp/trace/rows.h"

namespace lp::tool {
namespace {

using SpanKind = SpanRecord::Kind;

// Rows below a thread have numbers that no thread has.
constexpr std::uint64_t kFirstRow = std::uint64_t{1} << 23;

class Writer {
 public:
  explicit Writer(const Trace& trace) : trace_(trace), rows_(trace.spans.size()), served_(trace.spans.size()) {}

  std::string write() {
    begin_ = begin_of(trace_);
    arrange();
    json_.begin_object();
    json_.member("displayTimeUnit", "ns");
    json_.key("otherData");
    json_.begin_object();
    json_.member("run", trace_.run);
    json_.member("lost spans", trace_.lost);
    write_gaps();
    json_.member("error of clocks in ns", trace_.clock_error.count());
    json_.end_object();
    json_.key("traceEvents");
    json_.begin_array();
    write_names();
    for (const std::size_t i : order_) {
      i < trace_.spans.size() ? write_span(i) : write_served(i - trace_.spans.size());
    }
    for (const Trace::Mark& mark : trace_.marks) write_mark(mark);
    for (const Trace::Value& value : trace_.values) write_value(value);
    json_.end_array();
    json_.end_object();
    return escaped(std::move(json_).text());
  }

 private:
  // The node and the thread of a span's slice.
  using Thread = std::pair<std::uint32_t, std::int32_t>;

  // A call on its caller's stack has a second slice, that of its handler. It has the number of the span behind all.
  std::size_t handler_slice(std::size_t span) const { return trace_.spans.size() + span; }

  // Assigns the rows.
  void arrange() {
    std::map<Thread, std::vector<Slice>> threads;
    for (std::size_t i = 0; i < trace_.spans.size(); ++i) {
      const SpanRecord& span = trace_.spans[i];
      threads[{span.node, span.thread}].push_back(slice_of(i));
      if (span.kind == SpanKind::handler) handlers_.emplace(span.id, i);
      if (span.kind == SpanKind::direct) {
        Slice handler = slice_of(i);
        handler.number = handler_slice(i);
        handler.parent = 0;
        threads[{span.other, span.thread}].push_back(handler);
      }
    }
    for (auto& [thread, slices] : threads) {
      put_into_rows(slices);
      std::vector<std::uint64_t> rows;
      for (const Slice& slice : slices) {
        if (slice.row == rows.size()) rows.push_back(new_row(thread, slice.row));
        order_.push_back(slice.number);
        if (slice.number < trace_.spans.size()) {
          rows_[slice.number] = rows[slice.row];
        } else {
          served_[slice.number - trace_.spans.size()] = rows[slice.row];
        }
      }
    }
  }

  Slice slice_of(std::size_t i) const {
    const SpanRecord& span = trace_.spans[i];
    return {.number = i,
            .id = span.id,
            .parent = span.kind == SpanKind::handler ? 0 : span.parent,
            .begin = span.begin,
            .end = std::max(span.begin, span.end)};
  }

  std::uint64_t new_row(const Thread& thread, std::size_t row) {
    const std::uint64_t number = row == 0 ? static_cast<std::uint64_t>(thread.second) : next_row_++;
    std::string name = "thread " + std::to_string(thread.second);
    if (row > 0) name += " (" + std::to_string(row + 1) + ")";
    row_names_.push_back({thread.first, number, std::move(name)});
    return number;
  }

  // Nodes are numbered from 1, as 0 means the idle process to viewers; code outside all nodes comes last.
  std::uint64_t process_of(std::uint32_t node) const {
    return node < trace_.nodes.size() ? node + std::uint64_t{1} : trace_.nodes.size() + 1;
  }
  std::string node_name(std::uint32_t node) const {
    return node < trace_.nodes.size() ? trace_.nodes[node].name : "outside";
  }

  // Microseconds, exact to the nanosecond.
  void time(std::string_view key, Duration time) {
    const std::int64_t all = std::max<std::int64_t>(time.count(), 0);
    std::string digits = std::to_string(all % 1000 + 1000);
    digits[0] = '.';
    json_.key(key);
    json_.json(std::to_string(all / 1000) + digits);
  }

  void begin_event(std::string_view phase, std::string_view name, std::uint32_t node, std::uint64_t row) {
    json_.begin_object();
    json_.member("ph", phase);
    json_.member("name", name);
    json_.member("pid", process_of(node));
    json_.member("tid", row);
  }

  void begin_slice(std::string_view category, std::string_view name, std::uint32_t node, std::uint64_t row, Time from,
                   Time to) {
    begin_event("X", name, node, row);
    json_.member("cat", category);
    time("ts", from - begin_);
    time("dur", std::max(to - from, Duration::zero()));
  }

  void metadata(std::string_view what, std::uint32_t node, std::uint64_t row, std::string_view argument,
                std::string_view value) {
    begin_event("M", what, node, row);
    json_.key("args");
    json_.begin_object();
    json_.member(argument, value);
    json_.end_object();
    json_.end_object();
  }

  void write_names() {
    for (std::uint32_t node = 0; node <= trace_.nodes.size(); ++node) {
      metadata("process_name", node, 0, "name", node < trace_.nodes.size() ? node_name(node) : "run " + trace_.run);
      if (node < trace_.nodes.size() && !trace_.nodes[node].host.empty()) {
        metadata("process_labels", node, 0, "labels", "on " + trace_.nodes[node].host);
      }
      begin_event("M", "process_sort_index", node, 0);
      json_.key("args");
      json_.begin_object();
      json_.member("sort_index", process_of(node));
      json_.end_object();
      json_.end_object();
    }
    for (const auto& [node, row, name] : row_names_) metadata("thread_name", node, row, "name", name);
  }

  void write_gaps() {
    const std::vector<std::string> texts = gap_texts(trace_);
    if (!texts.empty()) json_.member("missing", texts);
  }

  static std::string hex(std::uint64_t number) {
    std::string text(16, '0');
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4)
      *digit = "0123456789abcdef"[number & 15];
    return text;
  }

  void write_arguments(const SpanRecord& span) {
    json_.key("args");
    json_.begin_object();
    json_.member("span", hex(span.id));
    if (span.parent != 0) json_.member("parent", hex(span.parent));
    if (span.chain != 0) json_.member("chain", hex(span.chain));
    if (span.kind == SpanKind::handler) json_.member("caller", node_name(span.other));
    if (span.kind == SpanKind::sent) json_.member("reply", "none");
    if (span.failed) json_.member("failed", true);
    json_.end_object();
  }

  void write_span(std::size_t i) {
    const SpanRecord& span = trace_.spans[i];
    const std::uint64_t row = rows_[i];
    if (span.kind == SpanKind::own) {
      begin_slice("span", span.name(), span.node, row, span.begin, span.end);
      write_arguments(span);
      json_.end_object();
      return;
    }
    const std::string method = std::string(span.name()) + "()";
    const bool handler = span.kind == SpanKind::handler;
    const std::string call = handler ? method : node_name(span.other) + "." + method;
    begin_slice(handler ? "handler" : "call", call, span.node, row, span.begin, span.end);
    write_arguments(span);
    json_.end_object();
    if (span.kind == SpanKind::direct) {
      write_arrow(span, row, span.other, served_[i], span.begin);
    } else if (!handler) {
      write_phases(span, row);
    }
  }

  // Writes the second slice of a direct call: that of its handler, which ran in the caller's thread.
  void write_served(std::size_t i) {
    const SpanRecord& span = trace_.spans[i];
    begin_slice("handler", std::string(span.name()) + "()", span.other, served_[i], span.begin, span.end);
    write_arguments(span);
    json_.end_object();
  }

  // Writes the parts of a call that its handlers show. The last handler has brought the reply.
  void write_phases(const SpanRecord& call, std::uint64_t row) {
    const auto [first, last] = handlers_.equal_range(call.id);
    const SpanRecord* handler = nullptr;
    for (auto at = first; at != last; ++at) {
      const SpanRecord& one = trace_.spans[at->second];
      write_arrow(call, row, one.node, rows_[at->second], one.begin);
      if (handler == nullptr || one.begin > handler->begin) handler = &one;
    }
    if (handler == nullptr || call.kind != SpanKind::call) return;
    const Time returned = std::min(handler->end, handler->replied);
    const std::array<std::pair<std::string_view, Time>, 5> ends = {{{"send", handler->arrived},
                                                                    {"queue", handler->begin},
                                                                    {"run", returned},
                                                                    {"open", handler->replied},
                                                                    {"reply", call.end}}};
    Time from = call.begin;
    for (const auto& [name, known] : ends) {
      const Time to = std::clamp(known, from, std::max(from, call.end));
      if (to > from) {
        begin_slice("phase", name, call.node, row, from, to);
        json_.key("args");
        json_.begin_object();
        json_.member("span", hex(call.id));
        json_.end_object();
        json_.end_object();
      }
      from = to;
    }
  }

  void write_arrow(const SpanRecord& call, std::uint64_t row, std::uint32_t node, std::uint64_t to_row, Time to) {
    const std::string id = std::to_string(++arrows_);
    for (const bool end : {false, true}) {
      begin_event(end ? "f" : "s", call.name(), end ? node : call.node, end ? to_row : row);
      json_.member("cat", "call");
      json_.member("id", id);
      if (end) json_.member("bp", "e");
      time("ts", (end ? to : call.begin) - begin_);
      json_.end_object();
    }
  }

  void write_mark(const Trace::Mark& mark) {
    begin_event("i", mark.name, mark.node, 0);
    json_.member("cat", "event");
    json_.member("s", mark.node == SpanRecord::kNobody ? "g" : "p");
    time("ts", mark.at - begin_);
    json_.key("args");
    json_.begin_object();
    json_.member("text", mark.text);
    json_.end_object();
    json_.end_object();
  }

  void write_value(const Trace::Value& value) {
    begin_event("C", value.name, value.node, 0);
    time("ts", value.at - begin_);
    json_.key("args");
    json_.begin_object();
    json_.member("value", value.value);
    json_.end_object();
    json_.end_object();
  }

  // A page may have the text inside a script.
  static std::string escaped(const std::string& text) {
    std::string safe;
    safe.reserve(text.size() + text.size() / 8);
    for (const char c : text) c == '<' ? safe.append("\\u003c") : safe.append(1, c);
    return safe;
  }

  struct RowName {
    std::uint32_t node = 0;
    std::uint64_t row = 0;
    std::string name{};
  };

  const Trace& trace_;
  JsonWriter json_;
  Time begin_ = Time::max();
  std::unordered_multimap<std::uint64_t, std::size_t> handlers_;  // the spans of handlers, by their number
  std::vector<std::uint64_t> rows_;                               // by span
  std::vector<std::uint64_t> served_;                             // by span: the row of the second slice
  std::vector<std::size_t> order_;                                // slices in the order of their threads and times
  std::vector<RowName> row_names_;
  std::uint64_t next_row_ = kFirstRow;
  std::uint64_t arrows_ = 0;
};

}  // namespace

std::string trace_json(const Trace& trace) { return Writer(trace).write(); }

}  // namespace lp::tool
