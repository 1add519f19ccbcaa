#pragma once
// How far a caller is behind with the answers to its own requests. A server counts the time of a request from when it
// comes until it is answered; the ways to the server and back, and the wait for the turn of the caller's node, are
// known at the caller only. A caller that sends more than it can take would get all answers late, in time for no
// deadline.
//
// Owned by a Balancer; thread-safe.

#include <cstddef>
#include <mutex>

#include "lp/base/scheduler.h"

namespace lp {

class AnswerDelay {
 public:
  // A request that was one of `under_way` when it was sent has got its answer after `time`, of which its server had it
  // for `took`.
  void answered(std::size_t under_way, Duration time, Duration took);
  // Throws Error::overloaded when a request that would be one of `under_way` gets its answer too late, because the
  // caller is behind. A single request passes: so the caller learns when it is not behind any more. Servers that are
  // behind refuse requests themselves: while most of the time of the answers passes there, this lets all pass.
  void check(std::size_t under_way, Duration left) const;

 private:
  static constexpr double kDecay = 0.9;   // weight of an answer, compared with the one after it
  static constexpr double kBehind = 0.1;  // share of the allowed time that answers may spend outside of the server
  static constexpr double kFull = 0.7;  // share of the allowed time that may be planned with; the rest is for mistakes

  mutable std::mutex mutex_{};
  // Sums over the answers, with their weights; times in seconds.
  double weight_ = 0;
  double requests_ = 0;  // under way
  double times_ = 0;     // until the answers were used
  double delays_ = 0;    // the part outside of the server
};

}  // namespace lp
