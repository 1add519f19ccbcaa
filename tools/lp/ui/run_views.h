#pragma once
// The parts of the page that are asked for now and then, as JSON. Functions; any thread. They throw CommandError and
// Error as the commands of lp do.

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "lp/base/scheduler.h"
#include "tools/lp/runs.h"

namespace lp::tool {

// The list of all runs. It keeps what it has read of those that have ended, because there may be thousands. Any thread.
class RunList {
 public:
  std::string json();

 private:
  struct Entry {
    std::string json{};
    std::filesystem::file_time_type written{};  // when the result was
    Time until{};                               // the entry holds so long
  };
  std::string entry_of(const RunLocation& place);

  std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // by directory
};

// Its launch, its nodes, and the picture of its program. `read_only`: the page offers no requests that change it.
std::string run_json(const RunLocation& place, bool read_only);
std::string checkpoints_json(const RunLocation& place);
// What `lp why` finds. It looks at the run for a second.
std::string why_json(const RunLocation& place);
// The values that nodes have reported, by step. A curve has at most kCurvePoints points.
inline constexpr std::size_t kCurvePoints = 600;
std::string curves_json(const RunLocation& place);

}  // namespace lp::tool
