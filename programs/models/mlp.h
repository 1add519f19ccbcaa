#pragma once
// A multilayer perceptron of any depth; without hidden layers it is softmax regression.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <Eigen/Core>

#include "programs/models/model.h"

namespace lp {

// The function that a hidden unit applies to its sum. With relu, training amplifies rounding: where a sum lies within
// an ulp of 0, another order of summation (another number of workers) switches the unit, and the runs diverge. tanh has
// no such point.
enum class Activation : std::uint8_t { relu, tanh };

// Consecutive layers of a multilayer perceptron: all layers, or those of a node that does a part of the work. Each is
// fully connected, with an activation after it unless it is the perceptron's last. The parameters are, layer by layer
// from the input, the weights (outputs × inputs, column by column), then the biases. Immutable.
class MlpLayers {
 public:
  struct Layer {
    Eigen::Index inputs;
    Eigen::Index outputs;
    Eigen::Index weights;  // where they begin in the parameters
    Eigen::Index biases;
  };

  // `units` has the number of inputs, then the number of outputs of each layer. `first` and `last` are whether the
  // perceptron's first and last layer are among these. Error::failed unless there are two or more counts, each of 1 or
  // more.
  MlpLayers(const std::vector<Eigen::Index>& units, Activation activation, bool first = true, bool last = true);

  Eigen::Index size() const { return size_; }  // number of parameters
  Eigen::Index inputs() const { return layers_.front().inputs; }
  std::span<const Layer> layers() const { return layers_; }
  Activation activation() const { return activation_; }

  // Error::failed when a size does not fit.
  void check(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& inputs) const;

  // The outputs of every layer, after its activation, for inputs × examples. Error::failed when a size does not fit.
  std::vector<Eigen::MatrixXf> forward(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& inputs) const;
  // `delta` is the derivative of the loss with respect to the last outputs. Sets `gradient` to the derivative with
  // respect to the parameters, and returns the derivative with respect to the inputs. For the perceptron's first layer,
  // it returns an empty matrix.
  Eigen::MatrixXf backward(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& inputs,
                           const std::vector<Eigen::MatrixXf>& outputs, Eigen::MatrixXf delta,
                           Eigen::VectorXf& gradient) const;
  // The same in factors. Sets `factors`, layer by layer from the input, to the errors (outputs × examples), which are
  // the derivative of the loss with respect to the layer's sums, then to the layer's inputs (inputs × examples). The
  // product of the errors with the inputs is the gradient of the weights; the product with ones is that of the biases.
  void factorize(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& inputs,
                 const std::vector<Eigen::MatrixXf>& outputs, Eigen::MatrixXf delta, Eigen::VectorXf& factors) const;

 private:
  using Visit = std::function<void(std::size_t layer, const Eigen::MatrixXf& errors, const Eigen::MatrixXf& inputs)>;

  Eigen::MatrixXf walk_back(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& inputs,
                            const std::vector<Eigen::MatrixXf>& outputs, Eigen::MatrixXf delta,
                            const Visit& visit) const;

  Activation activation_;
  bool first_;
  bool last_;
  std::vector<Layer> layers_;
  Eigen::Index size_ = 0;
};

// All layers, and softmax cross-entropy.
class Mlp final : public Model {
 public:
  // `units` counts the units: {inputs, hidden..., classes}. Error::failed as for MlpLayers.
  explicit Mlp(const std::vector<Eigen::Index>& units, Activation activation = Activation::relu)
      : layers_(units, activation) {}

  Eigen::Index size() const override { return layers_.size(); }
  const MlpLayers& layers() const { return layers_; }

  // Biases are 0. Weights are normal with variance 2 / inputs where relu follows (He et al., ICCV 2015, equation 10),
  // else 1 / inputs (LeCun et al., "Efficient BackProp", 1998, equation 16).
  Eigen::VectorXf initialize(std::uint64_t seed) const override;

  Eigen::MatrixXf scores(const Eigen::VectorXf& parameters, const Eigen::MatrixXf& features) const override;

  double loss(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& gradient) const override;
  // The same with the factors of the gradient instead; see MlpLayers::factorize.
  double loss_in_factors(const Eigen::VectorXf& parameters, const Dataset& batch, Eigen::VectorXf& factors) const;

 private:
  MlpLayers layers_;
};

}  // namespace lp
