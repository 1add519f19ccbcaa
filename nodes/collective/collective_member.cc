#include "nodes/collective/collective_member.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lp/base/error.h"

namespace lp {

Error CollectiveMember::left() const {
  return Error(ErrorKind::disconnected, "a member has left the collective: " + reason_);
}

Feed<CollectivePart>& CollectiveMember::feed(std::uint64_t session, std::uint32_t to) {
  if (session <= left_) throw left();
  return feeds_[{session, to}];
}

Stream<CollectivePart> CollectiveMember::parts(std::uint64_t session, std::uint32_t to) {
  Feed<CollectivePart>& parts = feed(session, to);
  if (session <= ended_) parts.end();
  return parts.stream();
}

void CollectiveMember::send(std::uint64_t session, std::uint32_t to, CollectivePart part) {
  // The call may be from an earlier incarnation of the worker, for a session whose number was used again after a
  // restart of all members.
  if (session != entered_) throw Error(ErrorKind::disconnected, "this member has not entered the session");
  feed(session, to).put(std::move(part));
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

void CollectiveMember::finish(Array<float> state) {
  finished_ = true;
  last_state_ = std::move(state);
}

void CollectiveMember::enter(std::uint64_t session) {
  entered_ = session;
  feeds_.erase(feeds_.begin(), feeds_.lower_bound({session, 0}));
}

void CollectiveMember::end(std::uint64_t session) {
  for (auto one = feeds_.lower_bound({session, 0}); one != feeds_.end() && one->first.first == session; ++one) {
    one->second.end();
  }
  ended_ = std::max(ended_, session);
}

void CollectiveMember::leave(std::uint64_t session, std::string reason) {
  if (session <= left_) return;
  left_ = session;
  reason_ = std::move(reason);
  const auto end = feeds_.lower_bound({left_ + 1, 0});
  for (auto old = feeds_.begin(); old != end; ++old) old->second.fail(left());
  feeds_.erase(feeds_.begin(), end);
}

}  // namespace lp
