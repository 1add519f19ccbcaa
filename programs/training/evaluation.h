#pragma once
// Measures how good a model is on labelled examples. Values and pure functions: any thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <Eigen/Core>

#include "nodes/evaluator.h"
#include "programs/data/data.h"
#include "programs/models/model.h"

namespace lp {

struct Evaluation {
  double loss = 0;            // mean cross-entropy, in natural units
  double accuracy = 0;        // share of examples whose class has the highest score; of equal scores the first counts
  Eigen::MatrixXi confusion;  // examples by (class, guess)
};

// Error::failed when there are no examples or a size does not fit.
Evaluation evaluate(const Model& model, const Eigen::VectorXf& parameters, const Dataset& data);

// A judge for an Evaluator: "loss" and "accuracy" of a model on these examples. The functions are called on the
// evaluator's host.
std::function<Judge(std::uint64_t seed)> loss_and_accuracy(std::function<std::unique_ptr<Model>()> model,
                                                           std::function<Dataset(std::uint64_t seed)> data);

// The confusion as a table of text, a line per class, with the share of its examples that were guessed right, and its
// name if there are names; a dot is a zero. For up to about 20 classes.
std::string confusion_table(const Eigen::MatrixXi& confusion, const std::vector<std::string>& names = {});

}  // namespace lp
