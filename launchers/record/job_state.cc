#include "launchers/record/job_state.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace lp::launch {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool JobState::waits() const { return is_one_of(name, {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED"}); }

bool JobState::ended() const {
  return is_one_of(name, {"", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL",
                          "DEADLINE", "OUT_OF_MEMORY", "REVOKED", "SPECIAL_EXIT"});
}

std::string JobState::why() const {
  if (!lost.empty()) return " (its first node, " + lost + ", has failed)";
  return reason.empty() || reason == "None" ? "" : " (" + reason + ")";
}

}  // namespace lp::launch
