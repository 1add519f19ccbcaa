#pragma once
// The layers that a LayeredNetwork is made of: what a user chooses, and the interface of their computation.
//
// The choices are values. A Layer is owned by its network; one thread at a time.

#include <cstdint>
#include <memory>
#include <variant>

#include <Eigen/Core>

#include "lp/base/random.h"
#include "programs/environments/shape.h"
#include "programs/networks/network.h"

namespace lp {

// The function that a unit applies to its sum.
enum class Unit : std::uint8_t { linear, relu, tanh };

// Every unit sees all inputs.
struct Dense {
  Eigen::Index units = 64;
  Unit unit = Unit::linear;
  float scale = 1;  // multiplies the initial weights; a small one makes the first outputs nearly equal
};

// Every channel is a square window that moves over the image, without padding.
struct Convolution {
  Eigen::Index channels = 16;
  Eigen::Index window = 3;
  Eigen::Index stride = 1;
  Unit unit = Unit::relu;
};

using LayerOptions = std::variant<Dense, Convolution>;

// The computation of one layer. Its parameters are the weights, column by column, then the biases.
class Layer {
 public:
  using Parameters = Network::Parameters;

  virtual ~Layer() = default;

  virtual Shape outputs() const = 0;
  virtual Eigen::Index size() const = 0;  // number of parameters

  // Biases are 0. Weights are normal with variance 2 / inputs where relu follows (He et al., ICCV 2015, equation 10),
  // else 1 / inputs (LeCun et al., "Efficient BackProp", 1998, equation 16), times the square of the layer's scale.
  virtual void initialize(Random& random, Network::Gradient parameters) const = 0;

  // Sets `out` to outputs × examples.
  virtual void forward(const Parameters& parameters, const Eigen::MatrixXf& in, Eigen::MatrixXf& out) = 0;

  // After forward, which gave `out` for `in`. `errors` is the derivative with respect to `out`; it is overwritten. Sets
  // `gradient` and, unless it is null, `before`: the derivative with respect to `in`.
  virtual void backward(const Parameters& parameters, const Eigen::MatrixXf& in, const Eigen::MatrixXf& out,
                        Eigen::MatrixXf& errors, Network::Gradient gradient, Eigen::MatrixXf* before) = 0;
};

// Error::failed when the layer does not fit inputs of this shape.
std::unique_ptr<Layer> make_layer(const LayerOptions& options, const Shape& inputs);

}  // namespace lp
