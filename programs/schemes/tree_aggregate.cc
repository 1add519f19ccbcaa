#include "programs/schemes/tree_aggregate.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "lp/base/error.h"
#include "programs/training/synchronous.h"

namespace lp {

std::vector<int> aggregation_levels(int partitions, int depth) {
  if (partitions < 1 || depth < 1) {
    throw Error(ErrorKind::failed, "a tree of depth " + std::to_string(depth) + " over " + std::to_string(partitions) +
                                       " workers: give at least one of each");
  }
  const int scale = std::max(static_cast<int>(std::ceil(std::pow(partitions, 1.0 / depth))), 2);
  std::vector<int> out;
  for (int left = partitions; left > scale + (left + scale - 1) / scale;) out.push_back(left /= scale);
  return out;
}

// Workers do the same as synchronous ones; only the path of their gradients differs.
Scheme tree_aggregate_scheme(const ServerTraining& training, int depth) {
  Scheme scheme = synchronous_scheme(training);
  scheme.levels = aggregation_levels(training.workers, depth);
  return scheme;
}

}  // namespace lp
