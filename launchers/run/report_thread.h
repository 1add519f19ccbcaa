#pragma once
// Runs the report of a program in a thread of its own. The run owns it; its loop thread uses it.

#include <functional>
#include <optional>
#include <string>

#include "lp/base/scheduler.h"

namespace lp::internal {

class ReportThread {
 public:
  // `report` is called in the thread. Then any thread calls `done` with the reason of its failure; nothing: it
  // succeeded.
  void begin(std::function<void()> report, std::function<void(const std::optional<std::string>& failure)> done);
  // Waits for the thread until `until`, and abandons it then.
  void end(Time until);

 private:
  Thread thread_;
};

}  // namespace lp::internal
