#pragma once
// What a member of a collective serves to the others: parts of arrays, their sums, and who is in. A worker's side of it
// is in collective.h.
//
// A node, which serves only; one for each worker, in its process (Program::colocate). Its handlers run in its turn.
// Arrays of members of one host are read where they lie.

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/error.h"
#include "lp/program/context.h"
#include "lp/rpc/future.h"
#include "lp/rpc/method.h"

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

// One array of one operation of a session.
struct CollectivePart {
  std::uint64_t session = 0;
  std::uint64_t operation = 0;
  std::uint64_t part = 0;

  auto operator<=>(const CollectivePart&) const = default;
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
  std::uint64_t left = 0;         // the newest session that its worker has left, and why
  std::string reason{};
  bool finished = false;
};

class CollectiveMember {
 public:
  explicit CollectiveMember(Context& node) : incarnation_(node.incarnation()) {}

  // The sum over all `ranks` of the values that they give for this part, in the order of their ranks. Only the worker
  // of this member may ask again, until it asks for another. Error::failed when the values are not as many.
  Future<Array<float>> sum(CollectivePart part, std::uint32_t rank, std::uint32_t ranks, Array<float> values);
  // The same by who needs no answer.
  void add(CollectivePart part, std::uint32_t rank, std::uint32_t ranks, Array<float> values);

  // What this member's worker has offered for this part, or will; `takers` others ask for it, once each.
  Future<Array<float>> take(CollectivePart part);
  void offer(CollectivePart part, std::uint32_t takers, Array<float> values);

  // Asked of the first member that lives: a new session of all that join, when these are all of `members` but those
  // that are lost. Who asks again replaces what it asked before.
  Future<Session> join(Joining joining, std::uint32_t members);
  // This member will not come back.
  void lost(std::uint32_t member);

  // The worker of this member takes part in this session, as this rank.
  void enter(std::uint64_t session, std::uint32_t rank);
  // It takes no longer part: calls of this session and older ones fail with Error::disconnected and this reason.
  void leave(std::uint64_t session, std::string reason);
  // All is done, and this is what came out.
  void finish(Array<float> state);
  Array<float> last_state() const { return last_state_; }
  Presence presence() const {
    return {.incarnation = incarnation_, .left = left_, .reason = reason_, .finished = finished_};
  }

  // For the slowest worker, its restart included.
  static constexpr int kStepMilliseconds = 600'000;

  using Remote = Methods<deadline<&CollectiveMember::sum, kStepMilliseconds>, &CollectiveMember::add,
                         deadline<&CollectiveMember::take, kStepMilliseconds>, &CollectiveMember::offer,
                         deadline<&CollectiveMember::join, kStepMilliseconds>, idempotent<&CollectiveMember::lost>,
                         &CollectiveMember::enter, &CollectiveMember::leave, &CollectiveMember::finish,
                         idempotent<&CollectiveMember::last_state>, &CollectiveMember::presence>;

 private:
  struct Sum {
    std::map<std::uint32_t, Array<float>> values{};           // by rank
    std::map<std::uint32_t, Promise<Array<float>>> askers{};  // by rank
  };
  struct Offer {
    Array<float> values{};
    std::uint32_t takers = 0;  // that will still come; 0: not offered yet
    std::vector<Promise<Array<float>>> waiting{};
  };
  struct Waiting {
    Joining joining{};
    Promise<Session> promise{};
  };

  Error left() const;
  void check(const CollectivePart& part) const;
  void complete(const CollectivePart& part, Sum& sum);
  void form_when_complete();

  const std::uint32_t incarnation_;
  std::uint64_t left_ = 0;
  std::string reason_{};
  bool finished_ = false;
  Array<float> last_state_{};
  std::uint32_t rank_ = 0;
  std::map<CollectivePart, Sum> sums_{};
  std::map<CollectivePart, Array<float>> totals_{};  // for the own worker, until it asks for a later one
  std::map<CollectivePart, Offer> offers_{};
  std::uint32_t members_ = 0;
  std::map<std::uint32_t, Waiting> joining_{};  // by member
  std::set<std::uint32_t> lost_{};
};

}  // namespace lp
