#include "nodes/serving/least_outstanding.h"

#include <algorithm>
#include <tuple>
#include <variant>

#include "lp/base/error.h"

namespace lp {

LeastOutstanding::LeastOutstanding(std::size_t replicas) : replicas_(replicas) {
  if (replicas == 0) throw Error(ErrorKind::failed, "a balancer needs at least one replica");
}

std::optional<std::size_t> LeastOutstanding::choose(const std::vector<bool>& tried,
                                                    const std::function<bool(std::size_t)>& up, Time now,
                                                    bool only_good) {
  const std::lock_guard lock(mutex_);
  std::optional<std::size_t> best;
  std::tuple<bool, std::size_t> least;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    const std::size_t at = (next_ + i) % replicas_.size();
    if (tried[at]) continue;
    const std::tuple load{now < replicas_[at].avoided_until || !up(at), replicas_[at].outstanding};
    if ((only_good && std::get<0>(load)) || (best && load >= least)) continue;
    best = at;
    least = load;
  }
  if (!best) return best;
  ++replicas_[*best].outstanding;
  next_ = (*best + 1) % replicas_.size();
  return best;
}

void LeastOutstanding::done(std::size_t replica, End end, Time now) {
  const std::lock_guard lock(mutex_);
  --replicas_[replica].outstanding;
  Time& avoided = replicas_[replica].avoided_until;
  if (end == End::refused) avoided = std::max(avoided, later(now, kAfterRefusal));
  if (end == End::late) avoided = std::max(avoided, later(now, kAfterLate));
}

std::vector<std::size_t> LeastOutstanding::outstanding() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> all;
  for (const Replica& one : replicas_) all.push_back(one.outstanding);
  return all;
}

std::size_t LeastOutstanding::all_outstanding() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const Replica& one : replicas_) sum += one.outstanding;
  return sum;
}

}  // namespace lp
