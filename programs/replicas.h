#pragma once
// Training without servers: each worker has all parameters, and a collective keeps them equal. What a worker makes of
// its gradients is a scheme's ReplicaRule; what all schemes share is here: the first parameters come from one rank, the
// state of some steps is committed, and when a worker fails, all go on from the last commit (Horovod, elastic).
//
//     worker/0 ◀──▶ worker/1      each with collective/k, in its process
//         ▲    ╲  ╱    ▲
//         ▼    ╱  ╲    ▼
//     worker/3 ◀──▶ worker/2
//
// Values; a Replica and its rule are owned by a worker, one thread.

#include <cstdint>
#include <functional>
#include <memory>

#include <Eigen/Core>

#include "nodes/collective.h"
#include "programs/training.h"

namespace lp {

// What a worker has. All of it is needed to go on elsewhere.
struct Replica {
  std::uint64_t step = 0;  // steps done
  Eigen::VectorXf parameters{};
  Optimizer optimizer{};
  Eigen::VectorXf global{};  // BMUF: the parameters of all, and their change by the last block
  Eigen::VectorXf change{};
};

class ReplicaRule {
 public:
  virtual ~ReplicaRule() = default;

  // A step, by the gradient summed over the examples. True when now all workers have the same replica.
  virtual bool step(Replica& replica, Collective& all, const Eigen::VectorXf& gradient, std::uint32_t examples) = 0;
  // After the last step: all workers have the same parameters.
  virtual void end(Replica&, Collective&) {}
};

struct ReplicaScheme {
  Division division = Division::shards;
  CollectiveOptions collective{};
  std::function<std::unique_ptr<ReplicaRule>()> rule{};
};

// Adds the groups "worker", which ends the program, and "collective". A commit is taken every `cut_every` steps, or
// at the next step after which all are equal; 0: only the first parameters. A worker that fails is restarted as often
// as the training says; without restarts the others go on and share the batches among them.
TrainingGraph add_replica_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                   const ReplicaScheme& scheme);

}  // namespace lp
