#pragma once
// Some waits end in one of several ways: another activity may bring the value, or take the item. A chain shows one way.
// It shows a circle only when every way leads into it: then nothing is left that could end the wait. Values, and
// pure functions.

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "launchers/observation/wait_graph.h"

namespace lp::launch {

// A way in which a wait may end.
struct WayOut {
  std::optional<std::size_t> next{};
  Activity::Why why = Activity::Why::runs;
  Activity::End end = Activity::End::unknown;  // without a next one
  std::string does{};                          // empty: as in the activity
  std::string detail{};
  bool unsure = false;  // the next one could end it, and is not expected to: a chain does not go on to it
};

// Makes it the way of the activity's chain.
void take_way(Activity& activity, const WayOut& way);

class WaysOut {
 public:
  // Returns the list's number. Many waits may share one.
  std::size_t add_list(std::vector<WayOut> ways);
  void offer(std::size_t activity, std::size_t list) { lists_of_[activity].push_back(list); }

  // Those whose chain ends in a circle, and that have a way out of it, get the shortest one.
  void leave_circles(std::vector<Activity>& activities) const;

 private:
  std::vector<std::vector<WayOut>> lists_;
  std::map<std::size_t, std::vector<std::size_t>> lists_of_;  // by activity
};

}  // namespace lp::launch
