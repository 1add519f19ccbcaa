#pragma once
// A node of a tree of parameter servers, as in Rudra (Gupta, Zhang and Wang, ICDM 2016) and Spark's treeAggregate. It
// sums the gradients of its learners, which are workers or other leaf servers. It pushes the sum once to the servers
// above, which are root servers or leaf servers, as if it were their worker. Learners read the parameters of the root.
//
// Learners push in step: their pushes of one clock are one sum, which has that clock above. The sum waits for all
// present learners. A leaf goes on without a learner that has left, or that the program goes on without, until it is
// back.
//
// A node: its handlers run in its turn. It saves no state: the servers above know which sums they have, and callers
// repeat unanswered calls, leave() included.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "lp/program/context.h"
#include "lp/program/node_type.h"
#include "lp/rpc/clients.h"
#include "nodes/parameters/bad_values.h"
#include "nodes/parameters/learner_group.h"
#include "nodes/parameters/parameter_server.h"

namespace lp {

class LeafServer final : public ParameterService {
 public:
  // Leaf server number k of n sums for the nodes of the group `learners` whose number is k mod n. For the servers
  // above, one for each shard, it is worker k. The policy for bad values is applied here, where the learner is known.
  // Error::failed when this leaf has no learners.
  LeafServer(Context& node, Clients<ParameterService> above, Clients<Learner> learners, BadValues bad_values);

  // Answers when the sum, of all rows of a dense tensor, was pushed to the servers above. A repeated push is answered
  // with its sum. Error::failed, which names the learner, for refused values, for a push of some keys, and for a size
  // that differs from that of the others. Error::overloaded when too many sums wait for a learner.
  Future<Reply> push(Push push) override;
  Future<Reply> pull(Pull pull) override;
  // Answers when all learners have left, and the servers above know it. Error::disconnected when the servers went back
  // in the meantime: the learner must call position() again.
  Future<void> leave(std::uint32_t learner, std::uint32_t shard) override;
  Future<ShardVersions> versions(std::uint32_t tensor, std::uint32_t shard) override;
  // Returns the position of this leaf at the servers above, since learners push in step.
  Future<WorkerPosition> position(std::uint32_t tensor, std::uint32_t shard, std::uint32_t learner) const override;

  using Remote =
      Methods<deadline<idempotent<&LeafServer::push>, kStepTime>, deadline<idempotent<&LeafServer::pull>, kStepTime>,
              deadline<idempotent<&LeafServer::leave>, kStepTime>,
              deadline<idempotent<&LeafServer::versions>, kStepTime>, idempotent<&LeafServer::position>>;

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
  struct TensorShard {
    std::uint32_t tensor = 0;
    std::uint32_t shard = 0;

    friend auto operator<=>(const TensorShard&, const TensorShard&) = default;
  };
  using Sums = std::map<std::uint64_t, Sum>;  // by clock

  void check_learner(std::uint32_t learner) const;
  void learners_changed();
  bool is_there(std::uint32_t learner) const { return !group_.is_gone(learner) && !left_.contains(learner); }
  bool has_learners() const;
  bool has_all(const Sum& sum) const;
  void push_complete(const TensorShard& key);
  void push_sum(const TensorShard& key, std::uint64_t clock);
  bool stands_still(const Sums& sums) const;
  void ask_position(const TensorShard& key);
  void sort_out(const TensorShard& key, Future<WorkerPosition> position);
  Future<Reply> repeat(const TensorShard& key, std::uint64_t clock);
  void answer(const TensorShard& key, std::uint64_t clock, Future<Reply> with);
  Reply noticed(Future<Reply> reply);
  void call_back();
  void leave_above();
  void ask_whether_all_left(std::uint32_t shard);
  void answer_left();

  const Clients<ParameterService> above_;
  const LearnerGroup group_;            // also the learners of the other leaves
  std::set<std::uint32_t> learners_{};  // the learners of this leaf
  const std::uint32_t index_;
  const BadValues bad_values_;
  std::map<TensorShard, Sums> sums_{};                          // the sums that are not answered yet
  std::set<TensorShard> asked_{};                               // the shards for which position() is being called above
  std::map<std::uint32_t, std::vector<Promise<void>>> left_{};  // learners that wait for the others to leave
};

// The tables that calls of this class need are compiled once, in leaf_server.cc.
extern template const NodeType& internal::node_type<LeafServer>();

}  // namespace lp
