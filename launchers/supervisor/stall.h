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

namespace lp::internal {

class Stall {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(30);

  // Takes a part of the measurement that was requested since the last check. For a unit that does not answer, its last
  // part counts.
  void on_measured(std::size_t unit, const Measurement& part);
  // Returns a sentence when nothing has moved for long enough, and otherwise nothing. It repeats the sentence only when
  // something has moved meanwhile, and then waits twice as long, because a program may have such pauses. `cpu` is the
  // processor time of this process in seconds, including nodes that are its threads.
  std::string look(const RunStatus& status, double cpu);

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

  std::map<std::size_t, Measurement> parts_;  // by unit
  Picture last_;
  double last_cpu_ = 0;
  std::uint64_t still_ = 0;     // successive checks that have found nothing new
  std::uint64_t patience_ = 2;  // in checks
  bool said_ = false;
};

}  // namespace lp::internal
