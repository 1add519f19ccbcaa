#pragma once
// Asynchronous training of fully connected layers that sends activations and errors instead of gradients, as Project
// Adam (Chilimbi et al., OSDI 2014, section 3.2.2): the gradient of a layer is the product of the errors of its outputs
// with what went in, and the server that has the layer forms it. For a batch of k examples that is k (inputs + outputs)
// values instead of (inputs + 1) outputs.
//
// An epoch ends when a share of its batches is done, whoever did them (section 3.1.4): who is behind leaves the rest of
// its own, so that no epoch waits for a slow worker; who is ahead goes on with the next.
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
  double epoch_share = 0.75;  // of an epoch's batches, when it ends; the training's steps count all
};

// The groups "server", of which each has whole layers, and "worker". Of the task's model only the parameters are taken
// that it starts from. Error::failed when an option does not fit.
TrainingGraph add_outer_product_training(Program& program, const LearningTask& task, const ServerTraining& training,
                                         const OuterProducts& products);

}  // namespace lp
