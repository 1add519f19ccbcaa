#pragma once
// Notices that nothing moves in a run: between two looks no call has begun or ended, no node has made progress or
// changed its state, and next to nothing was computed, although nodes still run. Tells that, and what they wait for.
//
// Owned and used by the loop thread of a run, which looks once in a period.

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
  // `period`: between two looks; a run that has not moved in two of them stands still.
  explicit Stall(Duration period) : period_(period) {}

  // A part of what was asked for since the last look; of a unit that does not answer, the last one counts.
  void on_measured(std::size_t unit, const Measurement& part);
  // True when the run stands still now and did not before, or moves again. After a pause that ended by itself it takes
  // twice as long to be noticed, because a program may have such pauses. `cpu`: seconds that this process has computed,
  // with nodes that are its threads.
  bool look(const RunStatus& status, double cpu);
  // A sentence while the run stands still; else empty.
  const std::string& text() const { return text_; }

 private:
  using Node = std::tuple<NodeStatus::State, std::uint32_t, std::uint64_t, std::map<std::string, double>>;
  struct Picture {
    std::vector<Node> nodes{};
    std::uint64_t calls = 0;  // begun
    std::uint64_t ended = 0;
    auto operator<=>(const Picture&) const = default;
  };

  Picture picture_of(const RunStatus& status) const;
  double computed() const;
  std::string waits(const RunStatus& status) const;

  const Duration period_;
  std::map<std::size_t, Measurement> parts_;  // by unit
  Picture last_;
  double last_cpu_ = 0;
  std::uint64_t still_ = 0;     // looks that have found nothing new
  std::uint64_t patience_ = 2;  // looks
  std::string text_;
};

}  // namespace lp::internal
