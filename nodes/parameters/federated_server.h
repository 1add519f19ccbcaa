#pragma once
// The server of federated learning (McMahan et al., AISTATS 2017, algorithm 1). It works in rounds on one state. A
// round selects members; they get the state, work on it, and return their own. The state of the next round is the mean
// of these, weighted by the examples of the selected members.
//
// A member that does not answer does not stop the round. A round waits for it as long as the patience allows, goes on
// without it, and drops its late answer. The member takes part again when it calls next() again (Bonawitz et al., MLSys
// 2019). A round does not wait for a member that the program goes on without.
//
// A node: its handlers run in its turn. Its run() ends rounds whose time is over, and evaluates whether the target is
// reached. It does so beside the handlers, since that may take long.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "lp/base/array.h"
#include "lp/base/scheduler.h"
#include "lp/checkpoint/checkpoint.h"
#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/core/future.h"
#include "lp/rpc/core/method.h"
#include "nodes/parameters/bad_values.h"
#include "nodes/parameters/learner_group.h"

namespace lp {

// A round, as a member sees it.
struct Round {
  std::uint64_t number = 0;
  bool selected = false;  // if false, the member asks for the next one
  bool over = false;      // there are no more rounds; `state` is the result
  Array<float> state{};   // set when the member is selected, or all is over
};

// Returns whether the state has reached the target.
using Reached = std::function<bool(const Array<float>& state)>;

struct RoundsOptions {
  double share = 1;          // C: the share of the members with examples that a round selects; at least one member
  std::uint64_t rounds = 1;  // 0: the first state is the result
  Duration patience = std::chrono::seconds(60);  // how long a round waits for its members
  BadValues bad_values = BadValues::refuse;      // pass: also states that are not finite
  std::uint64_t checkpoint_every = 0;  // rounds from one cut of the program to the next; 0: one after the last
  // The state of the first round, from the program's seed.
  std::function<std::vector<float>(std::uint64_t seed)> initial{};
  // Makes, from the program's seed, the function that is called after every round. The rounds end when it returns true.
  std::function<Reached(std::uint64_t seed)> reached{};
};

struct RoundsStatistics {
  std::uint64_t rounds = 0;
  std::uint64_t selected = 0;       // members, over all rounds
  std::uint64_t contributions = 0;  // states that went into a mean
  std::uint64_t missed = 0;         // members that a round went on without
  std::uint64_t late = 0;           // contributions to a round that was over
  std::uint64_t examples = 0;       // behind the contributions
};

class FederatedServer {
 public:
  // The first round waits for all these members, those without examples included. Error::failed when an option does
  // not fit.
  FederatedServer(Context& context, Clients<Learner> members, RoundsOptions options);

  void run(Context& node);

  // The next round of this member, a number in the group, which has `examples` examples. It is the present round, if
  // the member is selected and has not contributed, else the following one. A member without examples is never
  // selected, but gets the result.
  Future<Round> next(std::uint32_t member, std::uint64_t examples);
  // Returns false when the round is over, or had not selected this member. Error::failed when the state is of another
  // size, or, unless bad values pass, has a value that is not finite; then the round goes on without this member.
  bool contribute(std::uint32_t member, std::uint64_t round, const Array<float>& state);

  RoundsStatistics statistics() const { return statistics_; }
  Array<float> state() const { return state_; }

  void save(Checkpoint& out) const;
  // Error::failed when the state is of another size.
  void load(const Checkpoint& in);

  static constexpr Interval kRoundTime = 600_s;  // more than any patience

  using Remote =
      Methods<deadline<idempotent<&FederatedServer::next>, kRoundTime>, idempotent<&FederatedServer::contribute>,
              idempotent<&FederatedServer::statistics>, idempotent<&FederatedServer::state>>;

 private:
  struct Member {
    std::uint64_t examples = 0;
    std::optional<Promise<Round>> asks{};
    bool selected = false;
    bool answered = false;
    Array<float> contribution{};  // empty: it gave none that counts
  };

  Round round_for(const Member& member) const;
  std::vector<std::uint32_t> sample() const;
  void begin_round();
  void end_round();
  void end_round_when_answered();
  void begin_when_all_ask();
  void members_changed();
  void go_on(bool reached);
  Future<void> next_news();
  void notify();
  void end_when_due();
  void answer_all();

  Context& context_;
  const RoundsOptions options_;
  const LearnerGroup group_;
  Array<float> state_;
  std::map<std::uint32_t, Member> members_{};
  std::uint64_t number_ = 0;  // the present round; between rounds, the next one
  std::uint64_t cut_at_ = 0;  // the round of the newest cut
  bool began_ = false;        // a round has begun since this incarnation began
  bool going_on_ = false;
  bool judging_ = false;  // the previous round has ended, and run() evaluates whether it was the last
  bool over_ = false;
  std::optional<Promise<void>> news_{};  // run() waits for this promise or for due_
  Time due_;  // when the round ends at the latest, or the first one begins without the missing members
  RoundsStatistics statistics_{};
};

// The tables that calls of this class need are compiled once, in federated_server.cc.
extern template const NodeType& internal::node_type<FederatedServer>();

}  // namespace lp
