#pragma once
// The resources that a run's processes use, and the calls that their nodes have made so far. They are measured only
// while somebody watches. Values that to_json and from_json know, and their form in control messages.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launchers/os/thread_states.h"
#include "launchers/record/status.h"
#include "lp/rpc/observation/metric_sample.h"
#include "lp/rpc/observation/waits.h"

namespace lp {
struct CallStatistics;

// The answer of a run to "measure". Two answers give rates.
struct MeasureRecord {
  // The resources that one process has used since its start.
  struct Process {
    std::vector<std::string> nodes{};  // empty: the launcher itself
    std::uint32_t incarnation = 0;
    std::string host{};
    int pid = 0;
    double cpu = 0;                    // processor seconds
    std::uint64_t memory = 0;          // bytes that only this process has
    std::vector<std::string> gpus{};   // UUIDs
    std::optional<double> gpu_busy{};  // the share of the last moments in which its GPUs computed, their mean
    std::uint64_t gpu_memory = 0;      // bytes of its GPUs that are in use, by all processes
  };
  // The calls of one method by one node since the start of its process.
  struct Calls {
    std::string caller{};
    std::string callee{};
    std::string method{};
    std::uint64_t calls = 0;  // calls begun
    std::uint64_t ended = 0;
    std::uint64_t errors = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
    std::vector<std::uint64_t>
        latency{};  // the number of calls that took less than 1 ns, 2 ns, 4 ns, ...; trailing zeros are left out
    std::uint64_t latency_sum = 0;  // nanoseconds that they took
    // The number of calls that sent, and of replies that were, at most 64 bytes, 1 KiB, 16 KiB, ...; likewise.
    std::vector<std::uint64_t> sent_sizes{};
    std::vector<std::uint64_t> received_sizes{};
  };
  double time = 0;  // seconds on a monotonic clock
  RunStatus status{};
  Process launcher{};
  std::vector<Process> processes{};
  std::vector<Calls> calls{};
  std::uint64_t left_out = 0;  // the number of methods that are left out, for nodes that call very many
};

namespace control {
struct Measured;
struct MeasuredT;
}  // namespace control

namespace launch {

// The GPUs of a process, and what all processes do with them.
struct GpuMeasure {
  std::vector<std::string> uuids{};
  std::optional<double> busy{};  // the share of the last moments in which they computed, their mean
  std::uint64_t memory = 0;      // bytes in use
};

// The resources that a process uses; zeros when it has ended.
struct ProcessUse {
  double cpu = 0;  // seconds
  std::uint64_t memory = 0;
  GpuMeasure gpus{};
};
ProcessUse use_of(pid_t process);

// A question to processes.
enum class Inquiry : std::uint8_t {
  use,     // their resources, and the calls of their nodes
  waits,   // what their nodes wait for, and the states of their threads
  moment,  // what their nodes wait for alone
  stacks,  // the native stacks of their threads
  spans,   // the spans that they have recorded (spans_record.h)
};

// The native stacks of a process, or why there are none.
struct Stacks {
  std::string text{};
  bool problem = false;
};

// The increase of the counters between two measurements of the same calls. Counters that are smaller now have begun
// again at zero.
MeasureRecord::Calls calls_since(const MeasureRecord::Calls& before, const MeasureRecord::Calls& after);

// A part of an answer: the resources of a process, or the calls of its nodes, and so on.
struct Measurement {
  std::optional<ProcessUse> use{};
  std::optional<std::vector<MeasureRecord::Calls>> calls{};
  std::uint64_t left_out = 0;
  std::optional<MetricSamples> metrics{};  // comes with the calls
  std::optional<ProcessWaits> waits{};
  std::optional<std::vector<ThreadState>> threads{};
  std::optional<Stacks> stacks{};
  std::optional<std::string> spans{};  // packed
  bool last_spans = false;             // the process ends, and has handed over all that it has recorded

  // Whether all parts of the answer are here.
  bool answers(Inquiry what) const;
};

// The answer of nodes to Inquiry::use. Where there are very many methods or metrics, only the methods with the most
// calls and the first metrics are kept, so that the message fits its limit.
Measurement measurement_of(std::vector<CallStatistics> calls, MetricSamples metrics);

control::MeasuredT pack_measured(Measurement measurement);
// Leaves out malformed metrics.
Measurement unpack_measured(const control::Measured& message);

}  // namespace launch
}  // namespace lp
