#include "nodes/collective_member.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {
namespace {

constexpr std::size_t kBlock = 1024;  // values: of the total, they stay in the processor's first cache

// Element by element, from the first array to the last.
void sum_in_order(std::span<const float* const> arrays, std::span<float> total) {
  for (std::size_t begin = 0; begin < total.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, total.size() - begin);
    float* const to = total.data() + begin;
    std::copy_n(arrays[0] + begin, count, to);
    for (std::size_t k = 1; k < arrays.size(); ++k) {
      const float* const from = arrays[k] + begin;
      for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
    }
  }
}

}  // namespace

Error CollectiveMember::left() const {
  return Error(ErrorKind::disconnected, "a member has left the collective: " + reason_);
}

void CollectiveMember::check(const CollectivePart& part) const {
  if (part.session <= left_) throw left();
}

Future<Array<float>> CollectiveMember::sum(CollectivePart part, std::uint32_t rank, std::uint32_t ranks,
                                           Array<float> values) {
  check(part);
  if (rank == rank_) {
    if (const auto total = totals_.find(part); total != totals_.end()) return ready(total->second);
    totals_.erase(totals_.begin(), totals_.lower_bound(part));
  }
  Promise<Array<float>> promise;
  Future<Array<float>> answer = promise.future();
  sums_[part].askers[rank] = std::move(promise);
  add(part, rank, ranks, std::move(values));
  return answer;
}

void CollectiveMember::add(CollectivePart part, std::uint32_t rank, std::uint32_t ranks, Array<float> values) {
  check(part);
  const auto at = sums_.try_emplace(part).first;
  at->second.values[rank] = std::move(values);
  if (at->second.values.size() < ranks) return;
  Sum sum = std::move(at->second);
  sums_.erase(at);
  complete(part, sum);
}

void CollectiveMember::complete(const CollectivePart& part, Sum& sum) {
  const auto& [first_rank, first] = *sum.values.begin();
  std::vector<const float*> arrays;
  for (const auto& [rank, values] : sum.values) {
    arrays.push_back(values.data());
    if (values.size() == first.size()) continue;
    const Error error(ErrorKind::failed, "rank " + std::to_string(rank) + " gives " + std::to_string(values.size()) +
                                             " values to a sum, and rank " + std::to_string(first_rank) + " gives " +
                                             std::to_string(first.size()) + ": all must give as many");
    for (auto& [asker, promise] : sum.askers) promise.set_error(error);
    return;
  }
  auto total = Array<float>::uninitialized(first.size());
  sum_in_order(arrays, total.edit());
  if (sum.askers.contains(rank_)) totals_.emplace(part, total);
  for (auto& [asker, promise] : sum.askers) promise.set_value(total);
}

Future<Array<float>> CollectiveMember::take(CollectivePart part) {
  check(part);
  Offer& offer = offers_[part];
  Promise<Array<float>> promise;
  Future<Array<float>> taken = promise.future();
  if (offer.takers == 0) {
    offer.waiting.push_back(std::move(promise));
    return taken;
  }
  promise.set_value(offer.values);
  if (--offer.takers == 0) offers_.erase(part);
  return taken;
}

void CollectiveMember::offer(CollectivePart part, std::uint32_t takers, Array<float> values) {
  check(part);
  const auto at = offers_.try_emplace(part).first;
  std::vector<Promise<Array<float>>> waiting = std::exchange(at->second.waiting, {});
  if (waiting.size() >= takers) {
    offers_.erase(at);
  } else {
    at->second.takers = takers - static_cast<std::uint32_t>(waiting.size());
    at->second.values = values;
  }
  for (Promise<Array<float>>& one : waiting) one.set_value(values);
}

Future<Session> CollectiveMember::join(Joining joining, std::uint32_t members) {
  members_ = members;
  lost_.erase(joining.member);
  Waiting& waiting = joining_[joining.member];
  waiting = {.joining = joining, .promise = {}};
  Future<Session> formed = waiting.promise.future();
  form_when_complete();
  return formed;
}

void CollectiveMember::lost(std::uint32_t member) {
  lost_.insert(member);
  joining_.erase(member);
  form_when_complete();
}

void CollectiveMember::form_when_complete() {
  if (joining_.empty() || joining_.size() + lost_.size() < members_) return;
  Session session;
  for (const auto& [member, one] : joining_) {
    session.number = std::max(session.number, one.joining.last + 1);
    if (one.joining.progress > session.progress) {
      session.source = static_cast<std::uint32_t>(session.members.size());
      session.progress = one.joining.progress;
    }
    session.members.push_back(member);
    session.incarnations.push_back(one.joining.incarnation);
  }
  for (auto& [member, one] : std::exchange(joining_, {})) one.promise.set_value(session);
}

void CollectiveMember::enter(std::uint64_t session, std::uint32_t rank) {
  leave(session - 1, "another session has begun");
  rank_ = rank;
}

void CollectiveMember::finish(Array<float> state) {
  finished_ = true;
  last_state_ = std::move(state);
}

void CollectiveMember::leave(std::uint64_t session, std::string reason) {
  if (session <= left_) return;
  left_ = session;
  reason_ = std::move(reason);
  const CollectivePart end{.session = left_ + 1};
  totals_.clear();
  for (auto old = sums_.begin(); old != sums_.end() && old->first < end; old = sums_.erase(old)) {
    for (auto& [asker, promise] : old->second.askers) promise.set_error(left());
  }
  for (auto old = offers_.begin(); old != offers_.end() && old->first < end; old = offers_.erase(old)) {
    for (Promise<Array<float>>& one : old->second.waiting) one.set_error(left());
  }
}

}  // namespace lp
