#include "nodes/serving/answer_delay.h"

#include <algorithm>
#include <string>

#include "lp/base/error.h"
#include "lp/base/text.h"

namespace lp {

void AnswerDelay::answered(std::size_t under_way, Duration time, Duration took) {
  const double delay = to_seconds(std::clamp(time - took, Duration::zero(), std::max(time, Duration::zero())));
  const std::lock_guard lock(mutex_);
  weight_ = kDecay * weight_ + 1;
  requests_ = kDecay * requests_ + static_cast<double>(under_way);
  // The code that uses the answer waits for the turn of its node once more.
  times_ = kDecay * times_ + to_seconds(time) + delay;
  delays_ = kDecay * delays_ + delay;
}

// Answers come in the order of their requests, more or less, so each of those that are under way takes its share.
void AnswerDelay::check(std::size_t under_way, Duration left) const {
  if (under_way <= 1) return;
  double needed = 0;
  {
    const std::lock_guard lock(mutex_);
    if (weight_ == 0 || delays_ / weight_ <= kBehind * to_seconds(left)) return;
    needed = static_cast<double>(under_way) * times_ / requests_;
  }
  if (needed <= kFull * to_seconds(left)) return;
  throw Error(ErrorKind::overloaded, "the caller is behind with its " + std::to_string(under_way - 1) +
                                         " requests that are under way: an answer takes about " +
                                         duration_text(from_seconds(needed)) + ", and the call has " +
                                         duration_text(std::max(left, Duration::zero())) +
                                         " left: send less, or allow more time");
}

}  // namespace lp
