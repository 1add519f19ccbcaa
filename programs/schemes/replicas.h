#pragma once
// Training without servers: each worker has all parameters, and a collective keeps them equal. A scheme's ReplicaRule
// applies the gradients. The common part of these schemes is here: the first parameters come from one rank, the state
// of some steps is committed, and when a worker fails, all go on from the last commit (Horovod, elastic).
//
//     worker/0 ◀──▶ worker/1      each with collective/k, in its process
//         ▲    ╲  ╱    ▲
//         ▼    ╱  ╲    ▼
//     worker/3 ◀──▶ worker/2      the one of rank 0 ──▶ commits
//
// Values; a Replica and its rule are owned by a worker, one thread.

#include <cstdint>
#include <functional>
#include <memory>

#include <Eigen/Core>

#include "nodes/collective/collective.h"
#include "programs/schemes/replica.h"
#include "programs/training/training.h"

namespace lp {

class ReplicaRule {
 public:
  virtual ~ReplicaRule() = default;

  // Does a step, by the gradient summed over the examples. Returns true when now all workers have the same replica.
  virtual bool step(Replica& replica, Collective& all, const Eigen::VectorXf& gradient, std::uint32_t examples) = 0;
  // Called after the last step, if the replicas differ: makes them equal.
  virtual void end(Replica&, Collective&) {}
};

struct ReplicaScheme {
  Division division = Division::shards;
  CollectiveOptions collective{};
  std::function<std::unique_ptr<ReplicaRule>()> rule{};
};

// Adds the groups "worker", which ends the program, and "collective", and the node "commits".
//
// A commit is taken every `checkpoint_every` steps of a worker, or at the next step after which all replicas are equal,
// and after the last step; 0: only then. Each commit is in all workers, and in a cut.
//
// A worker that fails is restarted up to training.restarts times; without restarts the others go on and share all
// remaining batches. So every batch is trained on. The batches after the commit that all go back to are trained on once
// more. Workers that take turns all do the same number of steps, the last of them beyond the training's.
//
// Where no worker has a commit, all go on from that of "commits": when all were restarted, or the run resumes another.
// With the same workers, a restart changes no bit. The node "commits" is restarted as often; then the program stops.
TrainingGraph add_replica_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                   const ReplicaScheme& scheme);

}  // namespace lp
