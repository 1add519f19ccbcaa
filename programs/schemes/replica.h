#pragma once
// The state of a worker without parameter servers. All of it is needed to go on elsewhere: in another worker, after a
// restart, in another run. Values; pure functions.

#include <cstdint>

#include <Eigen/Core>

#include "lp/base/array.h"
#include "nodes/parameters/optimizer.h"

namespace lp {

struct Replica {
  std::uint64_t step = 0;     // steps done
  std::uint64_t batches = 0;  // batches of the training that all workers have done together
  double weight = 1;          // gossip: this model's
  Eigen::VectorXf parameters{};
  Optimizer optimizer{};
  // BMUF: the common parameters, which are the result; `change` is their change by the last block
  Eigen::VectorXf global{};
  Eigen::VectorXf change{};
};

// All of it except the optimizer's rule: numbers, then vectors, in the bits of an array of floats.
Array<float> packed(const Replica& replica);
// Replaces `replica`, except for the rule. Error::failed when the values are not the bits of a replica, or of one with
// another number of parameters.
void unpack(const Array<float>& values, Replica& replica);

}  // namespace lp
