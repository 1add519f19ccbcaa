#pragma once
// Training without servers: each worker has all parameters, and a collective keeps them equal. What a worker makes of
// its gradients is a scheme's ReplicaRule; what all schemes share is here: the first parameters come from one rank, the
// state of some steps is committed, and when a worker fails, all go on from the last commit (Horovod, elastic).
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

  // A step, by the gradient summed over the examples. True when now all workers have the same replica.
  virtual bool step(Replica& replica, Collective& all, const Eigen::VectorXf& gradient, std::uint32_t examples) = 0;
  // After the last step, where they do not: then they have.
  virtual void end(Replica&, Collective&) {}
};

struct ReplicaScheme {
  Division division = Division::shards;
  CollectiveOptions collective{};
  std::function<std::unique_ptr<ReplicaRule>()> rule{};
};

// Adds the groups "worker", which ends the program, and "collective", and the node "commits". A commit is taken every
// `cut_every` steps of a worker, or at the next step after which all are equal, and after the last; 0: only then. Each
// is in all workers, and in a cut. A worker that fails is restarted as often as the training says; without restarts the
// others go on and share all batches that are left among them. So every batch is trained on, those after the commit
// that all go back to once more; workers that take turns do as many steps each, the last of them beyond the training's.
// Where no worker has a commit, all go on from that of "commits": when all were restarted, or the run resumes another.
// With the same workers, a restart changes no bit. The node "commits" is restarted as often; then the program stops.
TrainingGraph add_replica_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                   const ReplicaScheme& scheme);

}  // namespace lp
