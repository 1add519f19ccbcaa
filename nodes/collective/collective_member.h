#pragma once
// What a member of a collective serves to the others: what its worker sends to each of them, and who is in. A worker's
// side of it is in collective.h.
//
// A node, which serves only; one for each worker, in its process (Program::colocate). Its handlers run in its turn.
// Arrays of members of one host are read where they lie.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/error.h"
#include "lp/program/context.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "lp/rpc/feed.h"

namespace lp {

// Who works together until one of them fails: then all who live form another session.
struct Session {
  std::uint64_t number = 0;                   // grows; 0: none yet
  std::vector<std::uint32_t> members{};       // by their index among all, ascending: a member's place here is its rank
  std::vector<std::uint32_t> incarnations{};  // of these
  std::uint32_t source = 0;                   // the rank whose state all others take over
  std::uint64_t progress = 0;                 // of that state
  bool over = false;  // a member has finished what they do together: there is nobody to join, but its last state
};

// An operation of a session, of which all ranks must mean the same.
struct CollectiveOperation {
  enum class Kind : std::uint8_t { allreduce, reduce_scatter, all_gather, broadcast, barrier };
  Kind kind = Kind::barrier;
  std::uint64_t number = 0;
  std::uint64_t size = 0;     // values; 0 where each rank may give another number
  std::uint64_t tensors = 0;  // a hash of their sizes

  bool operator==(const CollectiveOperation&) const = default;
};

// What one rank sends to another, in the order of the operations, which is the same in all ranks.
struct CollectivePart {
  CollectiveOperation operation{};
  Array<float> values{};
};

// Who asks to be in the next session.
struct Joining {
  std::uint32_t member = 0;
  std::uint32_t incarnation = 0;
  std::uint64_t last = 0;      // session that it was in
  std::uint64_t progress = 0;  // of its state
};

// Whether a member is still in a session.
struct Presence {
  std::uint32_t incarnation = 0;  // how often it was started
  std::uint64_t entered = 0;      // the newest session that its worker has been in
  std::uint64_t ended = 0;        // and the newest that it was done with
  std::uint64_t left = 0;         // the newest session that its worker has left, and why
  std::string reason{};
  bool finished = false;
};

class CollectiveMember {
 public:
  explicit CollectiveMember(Context& node) : incarnation_(node.incarnation()) {}

  // What this member's worker sends to the rank `to` of the session. Ends as that session does: Error::disconnected.
  Stream<CollectivePart> parts(std::uint64_t session, std::uint32_t to);
  void send(std::uint64_t session, std::uint32_t to, CollectivePart part);

  // Asked of the first member that lives: a new session of all that join, when these are all of `members` but those
  // that are lost. Who asks again replaces what it asked before.
  Future<Session> join(Joining joining, std::uint32_t members);
  // This member will not come back.
  void lost(std::uint32_t member);

  // The worker of this member takes part in this session, as all do: nobody reads older ones any more.
  void enter(std::uint64_t session);
  // It is done with it: what it has sent can be read to its end.
  void end(std::uint64_t session);
  // It has left it: what it sent in it and in older ones ends with Error::disconnected and this reason.
  void leave(std::uint64_t session, std::string reason);
  // All is done, and this is what came out.
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
  static constexpr int kStepMilliseconds = 600'000;

  using Remote =
      Methods<deadline<&CollectiveMember::parts, kStepMilliseconds>, &CollectiveMember::send,
              deadline<&CollectiveMember::join, kStepMilliseconds>, idempotent<&CollectiveMember::lost>,
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

}  // namespace lp
