#pragma once
// Chooses the replica for a request: of those that are up, the one with the fewest requests under way. A replica that
// refused a request, or let its time pass, is avoided for a while: it has few requests under way because it takes few,
// or it hangs. Owned by a Balancer; thread-safe.

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "lp/base/scheduler.h"

namespace lp {

class LeastOutstanding {
 public:
  enum class End { answered, refused, late, lost };

  // How long a replica is avoided after such an end.
  static constexpr Duration kAfterRefusal = std::chrono::milliseconds(10);
  static constexpr Duration kAfterLate = std::chrono::seconds(1);

  // Error::failed for no replicas.
  explicit LeastOutstanding(std::size_t replicas);

  // Counts a request at the returned replica; done() must follow. Replicas in `tried` are left out; nothing when all
  // are. Without a replica that is up and not avoided it chooses among the others, or if `only_good` it returns
  // nothing. Among equal replicas each has its turn.
  std::optional<std::size_t> choose(const std::vector<bool>& tried, const std::function<bool(std::size_t)>& up,
                                    Time now, bool only_good = false);
  void done(std::size_t replica, End end, Time now);

  std::vector<std::size_t> outstanding() const;  // by replica
  std::size_t all_outstanding() const;

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
