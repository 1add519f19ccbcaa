#include "launchers/control/measurement.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "launchers/control/control_generated.h"
#include "launchers/control/control_messages.h"
#include "launchers/os/process_memory.h"
#include "lp/rpc/core/counters.h"
#include "lp/wire/flatbuffer_text.h"

namespace lp::launch {
namespace {

constexpr std::size_t kMethods = 1000;  // the limit for a process, because a message may have 1 MiB
constexpr std::size_t kLongestName = 128;

MeasureRecord::Calls record_of(const CallStatistics& from) {
  MeasureRecord::Calls to{.caller = from.caller.substr(0, kLongestName),
                          .callee = from.callee.substr(0, kLongestName),
                          .method = from.method.substr(0, kLongestName),
                          .calls = from.calls,
                          .ended = from.ended,
                          .errors = from.errors,
                          .bytes_sent = from.bytes_sent,
                          .bytes_received = from.bytes_received,
                          .latency = {from.latency.counts.begin(), from.latency.counts.end()}};
  while (!to.latency.empty() && to.latency.back() == 0) to.latency.pop_back();
  return to;
}

}  // namespace

ProcessUse use_of(pid_t process) {
  ProcessUse use{.memory = own_memory_of(process)};
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  // The name of the program, in brackets, may have any characters; twelve fields follow before the times.
  std::istringstream fields(text.substr(std::min(text.rfind(')'), text.size() - 1) + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  std::uint64_t user = 0, system = 0;
  if (fields >> user >> system)
    use.cpu = static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
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
  for (std::size_t i = 0; i < std::min(grown.latency.size(), before.latency.size()); ++i) {
    since(grown.latency[i], before.latency[i]);
  }
  return grown;
}

Measurement measurement_of(std::vector<CallStatistics> calls) {
  Measurement measurement;
  if (calls.size() > kMethods) {
    std::sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.calls > b.calls; });
    measurement.left_out = calls.size() - kMethods;
    calls.resize(kMethods);
  }
  measurement.calls.emplace();
  for (const CallStatistics& one : calls) measurement.calls->push_back(record_of(one));
  return measurement;
}

control::MeasuredT pack_calls(Measurement measurement) {
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
  }
  return message;
}

Measurement unpack_calls(const control::Measured& message) {
  Measurement measurement{.left_out = message.left_out()};
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
             .bytes_received = one->bytes_received()};
    if (one->latency() != nullptr) entry.latency.assign(one->latency()->begin(), one->latency()->end());
  }
  return measurement;
}

}  // namespace lp::launch
