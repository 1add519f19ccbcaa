#include "lp/program/cut_ends.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace lp {

void CutEnds::end(std::uint64_t step, bool complete) {
  std::vector<Promise<bool>> over;
  {
    const std::lock_guard lock(mutex_);
    if (complete) {
      complete_ = any_complete_ ? std::max(complete_, step) : step;
      any_complete_ = true;
      given_up_.erase(given_up_.begin(), given_up_.upper_bound(step));
    } else {
      given_up_.insert(step);
      if (given_up_.size() > kRemembered) given_up_.erase(given_up_.begin());
    }
    auto one = complete ? waiting_.begin() : waiting_.lower_bound(step);
    const auto last = waiting_.upper_bound(step);
    for (; one != last; one = waiting_.erase(one)) over.push_back(std::move(one->second));
  }
  for (Promise<bool>& one : over) one.set_value(complete);
}

Future<bool> CutEnds::end_of(std::uint64_t step) {
  const std::lock_guard lock(mutex_);
  if (any_complete_ && step <= complete_) return ready(true);
  if (given_up_.contains(step)) return ready(false);
  return waiting_.emplace(step, Promise<bool>())->second.future();
}

}  // namespace lp
