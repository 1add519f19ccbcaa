#pragma once
// Chooses the replica for a request: of those that are up, the one with the fewest requests under way. A replica that
// let a request's time pass is left alone for a while, because it may hang. Owned by a Balancer; thread-safe.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp {

class LeastOutstanding {
 public:
  static constexpr auto kPause = std::chrono::seconds(1);  // for a replica that let a request's time pass

  // Error::failed for no replicas.
  explicit LeastOutstanding(std::size_t replicas);

  // Counts a request at the returned replica; done() must follow. Replicas in `tried` are left out; nothing when all
  // are. Without a replica that is up, it chooses among the others. Among equal replicas each has its turn.
  std::optional<std::size_t> choose(const std::vector<bool>& tried, const std::function<bool(std::size_t)>& up,
                                    Time now);
  // The request ended, and its time had passed if `late`.
  void done(std::size_t replica, bool late, Time now);

  std::vector<std::size_t> outstanding() const;  // by replica

 private:
  struct Replica {
    std::size_t outstanding = 0;
    Time avoided_until = Time::min();
  };
  mutable std::mutex mutex_{};
  std::vector<Replica> replicas_;
  std::size_t next_ = 0;  // the first among equals
};

}  // namespace lp
