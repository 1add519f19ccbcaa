#pragma once
// A member of a collective. It serves the parts that its worker sends to each of the others, and it forms sessions. The
// worker's side is in collective.h.
//
// A node that only serves; one for each worker, in the worker's process (Program::colocate). Its handlers run in its
// turn. Members on one host read each other's arrays without a copy.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/error.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "lp/rpc/feed.h"

namespace lp {

// The members that work together until one of them fails. Then all live members form another session.
struct Session {
  std::uint64_t number = 0;                   // grows; 0: none yet
  std::vector<std::uint32_t> members{};       // their indices in the group, ascending; the position here is the rank
  std::vector<std::uint32_t> incarnations{};  // those of the members, in the same order
  std::uint32_t source = 0;                   // the rank whose state all others copy
  std::uint64_t progress = 0;                 // the progress of the source's state
  bool over = false;  // a member has finished the common work: only its last state is left to read
};

// An operation of a session. All ranks must call the same one.
struct CollectiveOperation {
  enum class Kind : std::uint8_t { allreduce, reduce_scatter, all_gather, broadcast, barrier };
  Kind kind = Kind::barrier;
  std::uint64_t number = 0;
  std::uint64_t size = 0;     // values; 0 where each rank may give another number
  std::uint64_t tensors = 0;  // a hash of their sizes

  bool operator==(const CollectiveOperation&) const = default;
};

// The values that one rank sends to another, in the order of the operations, which is the same in all ranks.
struct CollectivePart {
  CollectiveOperation operation{};
  Array<float> values{};
};

// A member's request to be in the next session.
struct Joining {
  std::uint32_t member = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t last = 0;      // the session that it was in last
  std::uint64_t progress = 0;  // the progress of its state
};

// Whether a member is still in a session.
struct Presence {
  std::uint32_t incarnation = 0;  // how often it was started
  std::uint64_t entered = 0;      // the newest session that its worker has been in
  std::uint64_t ended = 0;        // the newest session that its worker has ended
  std::uint64_t left = 0;         // the newest session that its worker has left; `reason` is why
  std::string reason{};
  bool finished = false;
};

class CollectiveMember {
 public:
  explicit CollectiveMember(Context& node) : incarnation_(node.incarnation()) {}

  // The parts that this member's worker sends to the rank `to` of the session. The stream ends with the session:
  // Error::disconnected.
  Stream<CollectivePart> parts(std::uint64_t session, std::uint32_t to);
  void send(std::uint64_t session, std::uint32_t to, CollectivePart part);

  // Called on the first live member. Forms a new session of all joining members, as soon as they are all of `members`
  // except the lost ones. A repeated request replaces the earlier one of that member.
  Future<Session> join(Joining joining, std::uint32_t members);
  // Notes that this member will not come back.
  void lost(std::uint32_t member);

  // The worker enters this session, as all members do. Nobody reads older sessions any more.
  void enter(std::uint64_t session);
  // The worker has ended this session. The parts that it has sent can be read to the end.
  void end(std::uint64_t session);
  // The worker has left this session. Its parts of this session and of older ones end with Error::disconnected and this
  // reason.
  void leave(std::uint64_t session, std::string reason);
  // The common work is done, with this result.
  void finish(Array<float> state);
  Array<float> last_state() const { return last_state_; }
  Presence presence() const {
    return {.incarnation = incarnation_,
            .entered = entered_,
            .ended = ended_,
            .left = left_,
            .reason = reason_,
            .finished = finished_};
  }

  // For the slowest worker, its restart included.
  static constexpr Interval kStepTime = 600_s;

  using Remote =
      Methods<deadline<&CollectiveMember::parts, kStepTime>, &CollectiveMember::send,
              deadline<&CollectiveMember::join, kStepTime>, idempotent<&CollectiveMember::lost>,
              &CollectiveMember::enter, &CollectiveMember::end, &CollectiveMember::leave, &CollectiveMember::finish,
              idempotent<&CollectiveMember::last_state>, &CollectiveMember::presence>;

 private:
  using To = std::pair<std::uint64_t, std::uint32_t>;  // session and rank
  struct Waiting {
    Joining joining{};
    Promise<Session> promise{};
  };

  Error left() const;
  Feed<CollectivePart>& feed(std::uint64_t session, std::uint32_t to);
  void form_when_complete();

  const std::uint32_t incarnation_;
  std::uint64_t entered_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t left_ = 0;
  std::string reason_{};
  bool finished_ = false;
  Array<float> last_state_{};
  std::map<To, Feed<CollectivePart>> feeds_{};
  std::uint32_t members_ = 0;
  std::map<std::uint32_t, Waiting> joining_{};  // by member
  std::set<std::uint32_t> lost_{};
};

// The tables that calls of this class need are compiled once, in collective_member.cc.
extern template const NodeType& internal::node_type<CollectiveMember>();

}  // namespace lp
