#pragma once
// Detects that a run makes no progress although nodes still run. Between two checks no call has begun or ended, no node
// has made progress or changed its state, and almost nothing was computed. The report includes the calls that nodes
// wait for.
//
// The loop thread of a run owns and uses it, and checks once per period.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "launchers/control/measurement.h"
#include "launchers/record/status.h"
#include "lp/base/scheduler.h"

namespace lp::launch {

class Stall {
 public:
  // `period`: between two looks; a run that has not moved in two of them stands still.
  explicit Stall(Duration period) : period_(period) {}

  // Takes a part of the measurement that was requested since the last check. For a process that does not answer, its
  // last part counts.
  void on_measured(std::size_t process, const Measurement& part);
  // Returns true when the run stands still now and did not before, or moves again. After a pause that ended by itself
  // it takes twice as long to notice the next one, because a program may have such pauses. `cpu` is the processor time
  // of this process in seconds, including nodes that are its threads.
  bool update(const RunStatus& status, double cpu);
  // A sentence while the run stands still; else empty.
  const std::string& text() const { return text_; }

 private:
  using Node = std::tuple<NodeStatus::State, std::uint32_t, std::uint64_t, std::map<std::string, double>>;
  struct Picture {
    std::vector<Node> nodes{};
    std::uint64_t calls = 0;  // calls begun
    std::uint64_t ended = 0;
    auto operator<=>(const Picture&) const = default;
  };

  Picture picture_of(const RunStatus& status) const;
  double computed() const;
  std::string waits(const RunStatus& status) const;

  const Duration period_;
  std::map<std::size_t, Measurement> parts_;  // by process
  Picture last_;
  double last_cpu_ = 0;
  std::uint64_t still_ = 0;     // successive checks that have found nothing new
  std::uint64_t patience_ = 2;  // in checks
  std::string text_;
};

}  // namespace lp::launch
