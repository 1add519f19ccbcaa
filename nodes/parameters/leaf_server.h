#pragma once
// A node of a tree of parameter servers, as Rudra's (Gupta, Zhang and Wang, ICDM 2016) and Spark's treeAggregate: it
// sums the gradients of its learners, which are workers or such nodes, and pushes the sum once to those above, the root
// servers or such nodes, as their worker. What learners read comes from the root.
//
// Learners push in step: their pushes of one clock are one sum, which has that clock above. It waits for all learners
// that are there. A leaf goes on without one that has left, or that the program goes on without, until it is back.
//
// A node: its handlers run in its turn. It has no state worth saving: those above know which sums they have, and what
// was not answered, leave() included, is called again.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lp/program/context.h"
#include "lp/rpc/clients.h"
#include "nodes/parameters/bad_values.h"
#include "nodes/parameters/parameter_server.h"

namespace lp {

// Any node that pushes to a leaf server, which calls it nothing, and only hears whether it is there.
class Learner {
 public:
  using Remote = Methods<>;
};

class LeafServer final : public ParameterService {
 public:
  // Of n leaf servers number k sums for those of the group `learners` whose number is k mod n. For those above, one for
  // each shard, it is worker k. What happens to bad values happens here, where their learner is known. Error::failed
  // when no learner falls to it.
  LeafServer(Context& node, Clients<ParameterService> above, Clients<Learner> learners, BadValues bad_values);

  // Answered when the sum, of all rows of a dense tensor, was pushed to those above. A repetition is answered with its
  // sum. Error::failed, which names the learner, for values that are refused, for a push of some keys, and for a size
  // that is not that of the others. Error::overloaded when too many sums wait for a learner.
  Future<Reply> push(Push push) override;
  Future<Reply> pull(Pull pull) override;
  // Answered when all learners have left, and those above know it. Error::disconnected when the servers went back in
  // the meantime: the learner has to ask for its position again.
  Future<void> leave(std::uint32_t learner, std::uint32_t shard) override;
  Future<ShardVersions> versions(std::uint32_t tensor, std::uint32_t shard) override;
  // That of this leaf above, since learners push in step.
  Future<WorkerPosition> position(std::uint32_t tensor, std::uint32_t shard, std::uint32_t learner) const override;

  using Remote =
      Methods<deadline<idempotent<&LeafServer::push>, kStepMilliseconds>,
              deadline<idempotent<&LeafServer::pull>, kStepMilliseconds>,
              deadline<idempotent<&LeafServer::leave>, kStepMilliseconds>,
              deadline<idempotent<&LeafServer::versions>, kStepMilliseconds>, idempotent<&LeafServer::position>>;

 private:
  struct Gradient {
    Push push{};
    Array<float> values{};
  };
  struct Sum {
    std::map<std::uint32_t, Gradient> gradients{};  // by learner
    std::vector<Promise<Reply>> waiting{};
    bool pushed = false;
  };
  struct Place {
    std::uint32_t tensor = 0;
    std::uint32_t shard = 0;

    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Sums = std::map<std::uint64_t, Sum>;  // by clock

  void check_learner(std::uint32_t learner) const;
  void watch_learners();
  void learners_changed();
  bool is_there(std::uint32_t learner) const { return there_.contains(learner) && !left_.contains(learner); }
  bool has_learners() const;
  bool has_all(const Sum& sum) const;
  void push_complete(const Place& place);
  void push_sum(const Place& place, std::uint64_t clock);
  bool stands_still(const Sums& sums) const;
  void ask_position(const Place& place);
  void sort_out(const Place& place, Future<WorkerPosition> position);
  Future<Reply> repeat(const Place& place, std::uint64_t clock);
  void answer(const Place& place, std::uint64_t clock, Future<Reply> with);
  Reply noticed(Future<Reply> reply);
  void call_back();
  void leave_above();

  const Clients<ParameterService> above_;
  Clients<Learner> group_;
  std::set<std::uint32_t> learners_{};  // those that fall to this leaf
  std::set<std::uint32_t> there_{};     // of these, as the group says
  const std::uint32_t index_;
  const BadValues bad_values_;
  std::map<Place, Sums> sums_{};                                // that are not answered yet
  std::set<Place> asked_{};                                     // those whose position was asked above
  std::map<std::uint32_t, std::vector<Promise<void>>> left_{};  // learners, which wait for the others
};

}  // namespace lp
