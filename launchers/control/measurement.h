#pragma once
// What the processes of a run use, and the calls that their nodes have made so far: taken while somebody looks. Values,
// which to_json and from_json know, and how they travel in control messages.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launchers/record/status.h"

namespace lp {
struct CallStatistics;

// The answer of a run to "measure". Two of them give rates.
struct MeasureRecord {
  // What one process has used since it was started.
  struct Process {
    std::vector<std::string> nodes{};  // empty: the launcher itself
    std::uint32_t incarnation = 0;
    std::string host{};
    int pid = 0;
    double cpu = 0;            // seconds of processors
    std::uint64_t memory = 0;  // bytes of its own
  };
  // The calls of one method by one node, since its process was started.
  struct Calls {
    std::string caller{};
    std::string callee{};
    std::string method{};
    std::uint64_t calls = 0;  // begun
    std::uint64_t ended = 0;
    std::uint64_t errors = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
    std::vector<std::uint64_t>
        latency{};  // how many took less than 1 ns, 2 ns, 4 ns, ...; zeros at the end are left out
  };
  double time = 0;  // seconds, of a clock that only goes forward
  RunStatus status{};
  Process launcher{};
  std::vector<Process> processes{};
  std::vector<Calls> calls{};
  std::uint64_t left_out = 0;  // methods of nodes that call very many
};

namespace control {
struct Measured;
struct MeasuredT;
}  // namespace control

namespace internal {

// What a process uses; zeros when it is gone.
struct ProcessUse {
  double cpu = 0;  // seconds
  std::uint64_t memory = 0;
};
ProcessUse use_of(pid_t process);

// A part of an answer: what a unit's process uses, or the calls of its nodes.
struct Measurement {
  std::optional<ProcessUse> use{};
  std::optional<std::vector<MeasureRecord::Calls>> calls{};
  std::uint64_t left_out = 0;
};

// Of very many methods only those with most calls, so that they fit into a control message.
Measurement measurement_of(std::vector<CallStatistics> calls);

control::MeasuredT pack_calls(Measurement measurement);
Measurement unpack_calls(const control::Measured& message);

}  // namespace internal
}  // namespace lp
