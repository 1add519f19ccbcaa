#pragma once
// Logistic and softmax regression, over dense or sparse examples. With sparse examples, a batch uses only the rows of
// the inputs that occur in it, so that workers pull and push these alone.

#include <cstdint>

#include <Eigen/Core>

#include "programs/models/model.h"

namespace lp {

// The parameters are a row for each input, and a last row for the biases: row i is that of input i. A row has a weight
// for each class. With two classes it has only the weight of class 1 (logistic regression: the other's score is 0).
class LinearModel final : public Model {
 public:
  // Error::failed unless there are one or more inputs and two or more classes.
  LinearModel(Eigen::Index inputs, int classes);

  Eigen::Index size() const override { return (inputs_ + 1) * width_; }
  Eigen::Index width() const override { return width_; }
  Eigen::Index inputs() const { return inputs_; }
  // Zeros: the loss is convex.
  Eigen::VectorXf initialize(std::uint64_t seed) const override;
  Array<std::uint64_t> rows(const Dataset& batch) const override;
  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override;
  Eigen::MatrixXf scores_of(const Eigen::VectorXf& parameters, const Dataset& data) const override;
  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override;

 private:
  Eigen::MatrixXf with_zero_class(const Eigen::MatrixXf& outputs) const;
  void check(Eigen::Index parameters, Eigen::Index wanted) const;

  Eigen::Index inputs_;
  Eigen::Index width_;
};

}  // namespace lp
