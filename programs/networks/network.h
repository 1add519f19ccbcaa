#pragma once
// The interface of a network: a function of its parameters, with its derivatives. The parameters are one flat vector
// and live elsewhere, so that they are sent, saved and optimized without knowing their meaning. To use another library,
// write a class that copies the vector into that library's tensors.
//
// A Network has memory for one batch, which forward fills and backward reads; it is used again by the next batch. Owned
// by a node; one thread at a time.

#include <cstdint>
#include <functional>
#include <memory>

#include <Eigen/Core>

#include "programs/environments/shape.h"

namespace lp {

class Network {
 public:
  using Parameters = Eigen::Ref<const Eigen::VectorXf>;
  using Gradient = Eigen::Ref<Eigen::VectorXf>;

  virtual ~Network() = default;

  virtual Eigen::Index inputs() const = 0;
  virtual Eigen::Index outputs() const = 0;
  virtual Eigen::Index size() const = 0;  // number of parameters

  // The parameters that training starts from: a function of the seed.
  virtual Eigen::VectorXf initialize(std::uint64_t seed) const = 0;

  // Returns outputs × examples, for inputs × examples. The result is valid until the next forward. Error::failed when a
  // size does not fit.
  virtual const Eigen::MatrixXf& forward(const Parameters& parameters, const Eigen::MatrixXf& inputs) = 0;

  // `errors` is the derivative of a loss with respect to the outputs of the last forward, which had these parameters
  // and inputs. Sets `gradient` to the derivative with respect to the parameters, summed over the examples, and, unless
  // it is null, `input_errors` to that with respect to the inputs.
  virtual void backward(const Parameters& parameters, const Eigen::MatrixXf& inputs, const Eigen::MatrixXf& errors,
                        Gradient gradient, Eigen::MatrixXf* input_errors = nullptr) = 0;
};

// Makes a network for inputs of this shape. Nodes call it where they run, and must get equal results.
using MakeNetwork = std::function<std::unique_ptr<Network>(const Shape& inputs, Eigen::Index outputs)>;

}  // namespace lp
