#pragma once
// Synchronous training whose gradients are summed over a tree, as in Spark MLlib's GradientDescent with treeAggregate:
// the parameters are sent to all workers, and each sums the gradient of its part of the batch. The sums and the numbers
// of their examples are added level by level, and an update divides one by the other.
//
//     worker/0 ─┬─▶ leaf/0 ─┬─▶ server/0
//     worker/2 ─┘           │
//     worker/1 ───▶ leaf/1 ─┘

#include <vector>

#include "programs/training/training.h"

namespace lp {

// The sizes of the levels between P partitions and the driver, as in RDD.treeAggregate of Spark. With scale =
// max(⌈P^(1/depth)⌉, 2), while P > scale + ⌈P / scale⌉, there is a level of P / scale nodes: sum number i goes to node
// i mod P of the level. Error::failed unless there is a partition and a depth.
std::vector<int> aggregation_levels(int partitions, int depth);

Scheme tree_aggregate_scheme(const ServerTraining& training, int depth = 2);

inline TrainingGraph add_tree_aggregate_training(Program& program, const LearningTask& task,
                                                 const ServerTraining& training, int depth = 2) {
  return add_server_training(program, task, training, tree_aggregate_scheme(training, depth));
}

}  // namespace lp
