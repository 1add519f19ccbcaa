#include "launchers/control/spans_record.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "launchers/control/base64.h"
#include "launchers/control/control_generated.h"
#include "launchers/os/clock_name.h"
#include "lp/base/enums.h"
#include "lp/base/error.h"
#include "lp/rpc/observation/span_recorder.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp::launch {
namespace {

std::int64_t to_number(Time time) { return time.time_since_epoch().count(); }
[[noreturn]] void malformed() { throw Error(ErrorKind::failed, "the spans of a process are malformed"); }

// Differences of times, and sums of some, are in the range of a Duration.
constexpr std::int64_t kLatest = std::int64_t{1} << 57;  // four years after the start of a host
Time to_time(std::int64_t number) {
  if (number < 0 || number > kLatest) malformed();
  return Time(Duration(number));
}

// The names of spans, each once.
class Names {
 public:
  std::uint32_t number_of(std::string_view name) {
    const auto [at, is_new] = numbers_.emplace(name, numbers_.size());
    if (is_new) names_.push_back(at->first);
    return static_cast<std::uint32_t>(at->second);
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<std::string> names_;
};

SpanRecord record_of(const control::Span& from, std::string_view name) {
  if (from.kind() > static_cast<std::uint8_t>(SpanRecord::Kind::own)) malformed();
  SpanRecord to{.id = from.id(),
                .parent = from.parent(),
                .chain = from.chain(),
                .begin = to_time(from.begin()),
                .end = to_time(from.end()),
                .arrived = to_time(from.arrived()),
                .replied = to_time(from.replied()),
                .node = from.node(),
                .other = from.other(),
                .thread = from.thread(),
                .kind = static_cast<SpanRecord::Kind>(from.kind()),
                .failed = from.failed()};
  to.set_name(name);
  return to;
}

}  // namespace

control::RecordSpansT pack_order(const SpanOrder& order) {
  control::RecordSpansT message;
  message.share = order.sampling.share;
  message.bounded = order.sampling.bounded;
  message.ends = order.ends;
  message.most = static_cast<std::uint32_t>(order.most);
  message.sent = to_number(order.sent);
  return message;
}

SpanOrder unpack_order(const control::RecordSpans& message) {
  return {.sampling = {.share = message.share(), .bounded = message.bounded()},
          .most = message.most(),
          .ends = message.ends(),
          .sent = Time(Duration(message.sent()))};
}

std::string carry_out(const SpanOrder& order, SpanRecorder& recorder) {
  if (order.ends) {
    recorder.stop();
    return {};
  }
  ProcessSpans spans{.clock = clock_name(), .sent = order.sent, .arrived = now()};
  recorder.start(order.sampling);
  spans.recorded = recorder.take(std::min(order.most, kMostSpans));
  spans.answered = now();
  return pack_spans(spans);
}

std::vector<std::string> take_rest(const SpanOrder& order, SpanRecorder& recorder) {
  std::vector<std::string> all;
  for (bool more = true; more;) {
    ProcessSpans spans{
        .clock = clock_name(), .sent = order.sent, .arrived = now(), .recorded = recorder.take(kMostSpans)};
    spans.answered = now();
    more = spans.recorded.records.size() >= kMostSpans;
    all.push_back(pack_spans(spans));
  }
  return all;
}

std::string pack_spans(const ProcessSpans& spans) {
  Names names;
  std::vector<control::Span> records;
  records.reserve(spans.recorded.records.size());
  for (const SpanRecord& one : spans.recorded.records) {
    records.emplace_back(one.id, one.parent, one.chain, to_number(one.begin), to_number(one.end),
                         to_number(one.arrived), to_number(one.replied), one.node, one.other, one.thread,
                         names.number_of(one.name()), static_cast<std::uint8_t>(one.kind), one.failed);
  }
  flatbuffers::FlatBufferBuilder builder;
  const auto all_names = builder.CreateVectorOfStrings(names.all());
  const auto all_records = builder.CreateVectorOfStructs(records);
  const auto clock = builder.CreateString(spans.clock);
  builder.Finish(control::CreateSpanList(builder, clock, to_number(spans.sent), to_number(spans.arrived),
                                         to_number(spans.answered), all_names, all_records, spans.recorded.lost));
  return to_base64({reinterpret_cast<const std::byte*>(builder.GetBufferPointer()), builder.GetSize()});
}

ProcessSpans unpack_spans(std::string_view text) {
  const std::vector<std::byte> bytes = from_base64(text);
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (!verifier.VerifyBuffer<control::SpanList>(nullptr)) malformed();
  const auto& list = *flatbuffers::GetRoot<control::SpanList>(bytes.data());
  // For the alignment of a vector, the verifier checks only the four bytes of its length. An empty one may stand
  // anywhere.
  if (list.spans()->size() > 0 && reinterpret_cast<std::uintptr_t>(list.spans()->Data()) % alignof(control::Span) != 0)
    malformed();
  ProcessSpans spans{.clock = list.clock()->str(),
                     .sent = to_time(list.sent()),
                     .arrived = to_time(list.arrived()),
                     .answered = to_time(list.answered()),
                     .recorded = {.lost = list.lost()}};
  for (const control::Span* one : *list.spans()) {
    if (one->name() >= list.names()->size()) malformed();
    spans.recorded.records.push_back(record_of(*one, wire::text_of((*list.names())[one->name()])));
  }
  return spans;
}

}  // namespace lp::launch
