#pragma once
// What a worker without parameter servers has. All of it is needed to go on elsewhere: in another worker, after a
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
  Eigen::VectorXf global{};  // BMUF: the parameters of all, which are learned, and their change by the last block
  Eigen::VectorXf change{};
};

// All of it but the optimizer's rule: numbers, then vectors, in the bits of an array of floats.
Array<float> packed(const Replica& replica);
// Replaces `replica`, but for the rule. Error::failed when these are not the bits of a replica, or those of one with
// another number of parameters than it has.
void unpack(const Array<float>& values, Replica& replica);

}  // namespace lp
