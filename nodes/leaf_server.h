#pragma once
// A node of a tree of parameter servers, as Rudra's (Gupta, Zhang and Wang, ICDM 2016) and Spark's treeAggregate: it
// sums the gradients of its learners, which are workers or such nodes, and pushes the sum once to those above, the root
// servers or such nodes, as their worker. What learners read comes from the root.
//
// A node: its handlers run in its turn. It has no state worth saving: what was not answered is pushed again.

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lp/program/context.h"
#include "lp/rpc/clients.h"
#include "nodes/parameter_server.h"

namespace lp {

class LeafServer final : public ParameterService {
 public:
  // Serves `learners` workers, whatever their numbers. For those above, one for each shard, it is worker `index`.
  LeafServer(Clients<ParameterService> above, std::uint32_t learners, int index);

  // Answered when the sum, of all rows of a dense tensor, was pushed to those above. Error::failed for a push of some
  // keys, or one whose size is not that of the others.
  Future<Reply> push(Push push) override;
  Future<Reply> pull(Pull pull) override;
  Future<void> leave(std::uint32_t learner) override;
  Future<ShardVersions> versions(std::uint32_t tensor, std::uint32_t shard) override;
  WorkerPosition position(std::uint32_t tensor, std::uint32_t shard, std::uint32_t learner) const override;

  using Remote =
      Methods<deadline<idempotent<&LeafServer::push>, kStepMilliseconds>,
              deadline<idempotent<&LeafServer::pull>, kStepMilliseconds>, idempotent<&LeafServer::leave>,
              deadline<idempotent<&LeafServer::versions>, kStepMilliseconds>, idempotent<&LeafServer::position>>;

 private:
  struct Waiting {
    Push push{};
    Array<float> values{};
    Promise<Reply> promise{};
  };
  struct Gathering {  // the sum of one shard
    std::vector<Waiting> pushes{};
    std::uint64_t clock = 0;                            // of the next push to those above
    std::map<std::uint32_t, std::uint64_t> learners{};  // clocks
  };
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // tensor, shard

  void push_when_complete(const Place& place);

  Clients<ParameterService> above_;
  const std::uint32_t learners_;
  const std::uint32_t index_;
  std::map<Place, Gathering> gatherings_{};
  std::set<std::uint32_t> left_{};  // learners
};

}  // namespace lp
