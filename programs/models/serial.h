#pragma once
// Training in one thread: the reference for every distributed scheme.

#include <cstdint>

#include <Eigen/Core>

#include "nodes/parameters/optimizer.h"
#include "programs/data/data.h"
#include "programs/models/model.h"

namespace lp {

struct Training {
  std::uint64_t steps = 500;
  std::uint32_t batch = 64;  // examples per step, over all workers
  std::uint64_t seed = 0;    // decides the initial parameters and the order of the examples
  OptimizerRule rule = Sgd{};
};

// Minimizes the mean loss over the batches of `Batches`, step by step, and returns the parameters. Error::failed when
// the loss is no longer finite.
Eigen::VectorXf train_serial(const Model& model, const Dataset& data, const Training& training);

}  // namespace lp
