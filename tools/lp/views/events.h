#pragma once
// Reads the events of a run. One thread owns and uses an EventReader.

#include <memory>
#include <vector>

#include "launchers/record/records.h"
#include "tools/lp/log_mirror.h"
#include "tools/lp/log_reader.h"
#include "tools/lp/runs.h"

namespace lp::tool {

// Reads events as they come: from the run's directory, or from another host.
class EventReader {
 public:
  // Throws CommandError(not_live) when the run is on another host that is unreachable.
  explicit EventReader(const RunView& run);

  // The events that were not returned before, in the order of time. Lines that are no events are left out. Throws
  // CommandError as ask() does.
  std::vector<RunEvent> read();

 private:
  std::unique_ptr<LogMirror> mirror_;  // null: the events are here
  LogReader reader_;
};

// All events that are in the run's directory.
std::vector<RunEvent> events_of(const RunLocation& run);

}  // namespace lp::tool
