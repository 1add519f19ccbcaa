#pragma once
// A multilayer perceptron of any depth; without hidden layers it is softmax regression.

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "programs/model.h"

namespace lp {

// What a hidden unit makes of its sum. With relu, training amplifies rounding: where a sum lies within an ulp of 0,
// another order of summation (another number of workers) switches the unit, and the runs part. tanh has no such place.
enum class Activation : std::uint8_t { relu, tanh };

// Fully connected layers, an activation after each but the last, and softmax cross-entropy. The parameters are, layer
// by layer from the input, the weights (outputs × inputs, column by column), then the biases.
class Mlp final : public Model {
 public:
  // `layers` counts the units: {inputs, hidden..., classes}. Error::failed unless there are two or more, each of 1 or
  // more units.
  explicit Mlp(std::vector<Eigen::Index> layers, Activation activation = Activation::relu);

  Eigen::Index size() const override { return size_; }

  // Biases are 0. Weights are normal with variance 2 / inputs where relu follows (He et al., ICCV 2015, equation 10),
  // else 1 / inputs (LeCun et al., "Efficient BackProp", 1998, equation 16).
  Eigen::VectorXf initialize(std::uint64_t seed) const override;

  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override;

  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override;

 private:
  struct Layer {
    Eigen::Index inputs;
    Eigen::Index outputs;
    Eigen::Index weights;  // where they begin in the parameters
    Eigen::Index biases;
  };

  // What comes out of every layer, after its activation.
  std::vector<Eigen::MatrixXf> forward(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const;
  void check(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const;

  Activation activation_;
  std::vector<Layer> layers_;
  Eigen::Index size_ = 0;
};

}  // namespace lp
