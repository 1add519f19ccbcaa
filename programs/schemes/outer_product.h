#pragma once
// Asynchronous training of fully connected layers that sends activations and errors instead of gradients, as in Project
// Adam (Chilimbi et al., OSDI 2014, section 3.2.2). The gradient of a layer is the product of the errors of its outputs
// with its inputs, and the layer's server computes it. For a batch of k examples that is k (inputs + outputs) values
// instead of (inputs + 1) outputs.
//
// An epoch ends when a share of its batches is done, whichever workers did them (section 3.1.4). A slow worker skips
// the rest of its own batches, so that no epoch waits for it; a fast worker goes on with the next epoch.
//
// Values; pure functions.

#include <vector>

#include <Eigen/Core>

#include "programs/models/mlp.h"
#include "programs/training/training.h"

namespace lp {

struct OuterProducts {
  std::vector<Eigen::Index> units{};  // {inputs, hidden..., classes} of the perceptron
  Activation activation = Activation::tanh;
  // the share of an epoch's batches after which it ends; the training's steps count all batches
  double epoch_share = 0.75;
};

// The groups "server", of which each has whole layers, and "worker". The task's model only gives the initial
// parameters. Error::failed when an option does not fit.
TrainingGraph add_outer_product_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                         const OuterProducts& products);

}  // namespace lp
