#include "launchers/control/measurement.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/os/process_memory.h"
#include "launchers/os/process_stat.h"
#include "lp/rpc/core/counters.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp::launch {
namespace {

// The limits for a process, because a message may have 1 MiB.
constexpr std::size_t kMethods = 700;
constexpr std::size_t kMetricBytes = std::size_t{256} << 10;
constexpr std::size_t kLongestName = 128;

template <std::size_t Size>
std::vector<std::uint64_t> without_zeros(const std::array<std::uint64_t, Size>& counts) {
  std::vector<std::uint64_t> all(counts.begin(), counts.end());
  while (!all.empty() && all.back() == 0) all.pop_back();
  return all;
}

MeasureRecord::Calls record_of(const CallStatistics& from) {
  return {.caller = from.caller.substr(0, kLongestName),
          .callee = from.callee.substr(0, kLongestName),
          .method = from.method.substr(0, kLongestName),
          .calls = from.calls,
          .ended = from.ended,
          .errors = from.errors,
          .bytes_sent = from.bytes_sent,
          .bytes_received = from.bytes_received,
          .latency = without_zeros(from.latency.counts),
          .latency_sum = from.latency_sum,
          .sent_sizes = without_zeros(from.sent_sizes.counts),
          .received_sizes = without_zeros(from.received_sizes.counts)};
}

// About how many bytes of a message it takes.
std::size_t size_of(const MetricSample& sample) {
  std::size_t size = 100 + sample.node.size() + sample.name.size() + sample.help.size() +
                     8 * (sample.bounds.size() + sample.counts.size());
  for (const auto& [name, value] : sample.labels) size += 24 + name.size() + value.size();
  return size;
}

template <class Number>
std::vector<Number> numbers_of(const flatbuffers::Vector<Number>* from) {
  return from == nullptr ? std::vector<Number>() : std::vector<Number>(from->begin(), from->end());
}

std::unique_ptr<control::MetricT> pack_metric(MetricSample&& sample) {
  auto entry = std::make_unique<control::MetricT>();
  entry->node = std::move(sample.node);
  entry->name = std::move(sample.name);
  entry->help = std::move(sample.help);
  entry->kind = static_cast<std::uint8_t>(sample.kind);
  for (auto& [name, value] : sample.labels) {
    entry->labels.push_back(std::move(name));
    entry->labels.push_back(std::move(value));
  }
  entry->value = sample.value;
  entry->bounds = std::move(sample.bounds);
  entry->counts = std::move(sample.counts);
  return entry;
}

// Nothing for a malformed one.
std::optional<MetricSample> unpack_metric(const control::Metric& from) {
  if (from.kind() > static_cast<std::uint8_t>(MetricSample::Kind::histogram)) return std::nullopt;
  MetricSample sample{.node = wire::text_of(from.node()),
                      .name = wire::text_of(from.name()),
                      .help = wire::text_of(from.help()),
                      .kind = static_cast<MetricSample::Kind>(from.kind()),
                      .value = from.value(),
                      .bounds = numbers_of(from.bounds()),
                      .counts = numbers_of(from.counts())};
  if (from.labels() != nullptr) {
    for (flatbuffers::uoffset_t i = 0; i + 1 < from.labels()->size(); i += 2) {
      sample.labels.emplace_back(wire::text_of(from.labels()->Get(i)), wire::text_of(from.labels()->Get(i + 1)));
    }
  }
  const bool is_histogram = sample.kind == MetricSample::Kind::histogram;
  if (is_histogram && sample.counts.size() != sample.bounds.size() + 1) return std::nullopt;
  return sample;
}

// Keeps the first metrics, as many as a message has room for.
void keep_first(MetricSamples& metrics) {
  std::size_t size = 0;
  std::size_t kept = 0;
  while (kept < metrics.samples.size() && (size += size_of(metrics.samples[kept])) <= kMetricBytes) ++kept;
  metrics.dropped += metrics.samples.size() - kept;
  metrics.samples.resize(kept);
}

}  // namespace

ProcessUse use_of(pid_t process) {
  ProcessUse use{.memory = own_memory_of(process)};
  if (const auto stat = process_stat("/proc/" + std::to_string(process))) use.cpu = stat->cpu;
  return use;
}

bool Measurement::answers(Inquiry what) const {
  switch (what) {
    case Inquiry::use: return use.has_value() && calls.has_value();
    case Inquiry::waits: return waits.has_value() && threads.has_value();
    case Inquiry::moment: return waits.has_value();
    case Inquiry::spans: return spans.has_value();
    case Inquiry::stacks: break;
  }
  return stacks.has_value();
}

MeasureRecord::Calls calls_since(const MeasureRecord::Calls& before, const MeasureRecord::Calls& after) {
  MeasureRecord::Calls grown = after;
  if (after.calls < before.calls) return grown;
  const auto since = [](std::uint64_t& counter, std::uint64_t earlier) { counter -= std::min(counter, earlier); };
  since(grown.calls, before.calls);
  since(grown.ended, before.ended);
  since(grown.errors, before.errors);
  since(grown.bytes_sent, before.bytes_sent);
  since(grown.bytes_received, before.bytes_received);
  since(grown.latency_sum, before.latency_sum);
  const auto since_each = [&](std::vector<std::uint64_t>& counters, const std::vector<std::uint64_t>& earlier) {
    for (std::size_t i = 0; i < std::min(counters.size(), earlier.size()); ++i) since(counters[i], earlier[i]);
  };
  since_each(grown.latency, before.latency);
  since_each(grown.sent_sizes, before.sent_sizes);
  since_each(grown.received_sizes, before.received_sizes);
  return grown;
}

Measurement measurement_of(std::vector<CallStatistics> calls, MetricSamples metrics) {
  keep_first(metrics);
  Measurement measurement{.metrics = std::move(metrics)};
  if (calls.size() > kMethods) {
    std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.calls > b.calls; });
    measurement.left_out = calls.size() - kMethods;
    calls.resize(kMethods);
  }
  measurement.calls.emplace();
  for (const CallStatistics& one : calls) measurement.calls->push_back(record_of(one));
  return measurement;
}

control::MeasuredT pack_measured(Measurement measurement) {
  control::MeasuredT message;
  message.left_out = measurement.left_out;
  for (MeasureRecord::Calls& one : *measurement.calls) {
    auto& entry = message.calls.emplace_back(std::make_unique<control::CallCountT>());
    entry->caller = std::move(one.caller);
    entry->callee = std::move(one.callee);
    entry->method = std::move(one.method);
    entry->calls = one.calls;
    entry->ended = one.ended;
    entry->errors = one.errors;
    entry->bytes_sent = one.bytes_sent;
    entry->bytes_received = one.bytes_received;
    entry->latency = std::move(one.latency);
    entry->latency_sum = one.latency_sum;
    entry->sent_sizes = std::move(one.sent_sizes);
    entry->received_sizes = std::move(one.received_sizes);
  }
  for (MetricSample& one : measurement.metrics->samples) message.metrics.push_back(pack_metric(std::move(one)));
  message.dropped_metrics = measurement.metrics->dropped;
  message.shared_memory = measurement.metrics->shared_memory;
  return message;
}

Measurement unpack_measured(const control::Measured& message) {
  Measurement measurement{.left_out = message.left_out()};
  measurement.metrics = MetricSamples{.dropped = message.dropped_metrics(), .shared_memory = message.shared_memory()};
  if (message.metrics() != nullptr) {
    for (const auto* one : *message.metrics()) {
      if (auto sample = unpack_metric(*one)) measurement.metrics->samples.push_back(*std::move(sample));
    }
  }
  measurement.calls.emplace();
  if (message.calls() == nullptr) return measurement;
  for (const auto* one : *message.calls()) {
    MeasureRecord::Calls& entry = measurement.calls->emplace_back();
    entry = {.caller = wire::text_of(one->caller()),
             .callee = wire::text_of(one->callee()),
             .method = wire::text_of(one->method()),
             .calls = one->calls(),
             .ended = one->ended(),
             .errors = one->errors(),
             .bytes_sent = one->bytes_sent(),
             .bytes_received = one->bytes_received(),
             .latency = numbers_of(one->latency()),
             .latency_sum = one->latency_sum(),
             .sent_sizes = numbers_of(one->sent_sizes()),
             .received_sizes = numbers_of(one->received_sizes())};
  }
  return measurement;
}

}  // namespace lp::launch
