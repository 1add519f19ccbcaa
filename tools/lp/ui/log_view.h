#pragma once
// The output of nodes of one run, line by line: the last lines first, then those that come. A function; any thread.
//
//   {"logs":["worker/0",...]}             the names of the logs, once
//   {"lines":[[0,"text"],...],"left_out":5}  lines, each with the position of its log; the lines that were left out,
//                                         because more came than a person reads
//   {"trouble":"..."}                     why there is nothing to show, or nothing more

#include <string>
#include <vector>

#include "tools/lp/runs.h"
#include "tools/lp/ui/line_sink.h"

namespace lp::tool {

struct LogRequest {
  std::vector<std::string> nodes{};  // nodes and groups; none: all
  std::string pattern{};             // only lines that match it, as with `lp logs --grep`; empty: all
  bool ignore_case = false;
};

inline constexpr std::size_t kFirstLines = 2000;  // all logs together
inline constexpr std::size_t kLinesAtOnce = 1000;
inline constexpr std::size_t kLongestLine = 2000;  // bytes

// Writes until the run has ended and all is written, or until the reader has left.
void show_logs(const RunLocation& place, const LogRequest& request, LineSink& out);

}  // namespace lp::tool
