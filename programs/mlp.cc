#include "programs/mlp.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;
using ConstMatrix = Eigen::Map<const MatrixXf>;
using ConstVector = Eigen::Map<const VectorXf>;

void activate(Activation activation, MatrixXf& sums) {
  switch (activation) {
    case Activation::relu: sums = sums.cwiseMax(0.0F); break;
    case Activation::tanh: sums = sums.array().tanh(); break;
  }
}

// The activation's derivative, from its value.
MatrixXf slope(Activation activation, const MatrixXf& values) {
  if (activation == Activation::relu) return (values.array() > 0.0F).cast<float>();
  return 1.0F - values.array().square();
}

}  // namespace

Mlp::Mlp(std::vector<Index> layers, Activation activation) : activation_(activation) {
  if (layers.size() < 2) throw Error(ErrorKind::failed, "an MLP needs inputs and classes: two layers at least");
  for (const Index units : layers) {
    if (units < 1) throw Error(ErrorKind::failed, "an MLP's layer has " + std::to_string(units) + " units");
  }
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) {
    const Index inputs = layers[i];
    const Index outputs = layers[i + 1];
    layers_.push_back({inputs, outputs, size_, size_ + inputs * outputs});
    size_ += inputs * outputs + outputs;
  }
}

VectorXf Mlp::initialize(std::uint64_t seed) const {
  VectorXf out = VectorXf::Zero(size_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    Random random(seed, "mlp", i);
    const double variance =
        (activation_ == Activation::relu && i + 1 < layers_.size() ? 2.0 : 1.0) / static_cast<double>(layer.inputs);
    for (Index k = layer.weights; k < layer.biases; ++k) {
      out(k) = static_cast<float>(std::sqrt(variance) * random.normal());
    }
  }
  return out;
}

void Mlp::check(const VectorXf& parameters, const MatrixXf& features) const {
  if (parameters.size() != size_) {
    throw Error(ErrorKind::failed,
                "an MLP of " + std::to_string(size_) + " parameters was given " + std::to_string(parameters.size()));
  }
  if (features.rows() != layers_.front().inputs) {
    throw Error(ErrorKind::failed, "an MLP of " + std::to_string(layers_.front().inputs) +
                                       " inputs was given examples of " + std::to_string(features.rows()) +
                                       " features");
  }
}

std::vector<MatrixXf> Mlp::forward(const VectorXf& parameters, const MatrixXf& features) const {
  std::vector<MatrixXf> out;
  for (const Layer& layer : layers_) {
    const ConstMatrix weights(parameters.data() + layer.weights, layer.outputs, layer.inputs);
    const ConstVector biases(parameters.data() + layer.biases, layer.outputs);
    MatrixXf sums(layer.outputs, features.cols());
    sums.noalias() = weights * (out.empty() ? features : out.back());
    sums.colwise() += biases;
    if (&layer != &layers_.back()) activate(activation_, sums);
    out.push_back(std::move(sums));
  }
  return out;
}

MatrixXf Mlp::scores(const VectorXf& parameters, const MatrixXf& features) const {
  check(parameters, features);
  return std::move(forward(parameters, features).back());
}

double Mlp::loss(const VectorXf& parameters, const Dataset& batch, VectorXf& gradient) const {
  check(parameters, batch.features);
  gradient.setZero(size_);
  if (batch.examples() == 0) return 0;  // Eigen computes addresses inside empty matrices, which have none
  std::vector<MatrixXf> outputs = forward(parameters, batch.features);
  MatrixXf delta = std::move(outputs.back());  // derivative with respect to a layer's sums, from the last layer back
  const double loss = softmax_cross_entropy(delta, batch.labels);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const MatrixXf& inputs = i == 0 ? batch.features : outputs[i - 1];
    Eigen::Map<MatrixXf>(gradient.data() + layer.weights, layer.outputs, layer.inputs).noalias() =
        delta * inputs.transpose();
    Eigen::Map<VectorXf>(gradient.data() + layer.biases, layer.outputs) = delta.rowwise().sum();
    if (i == 0) break;
    const ConstMatrix weights(parameters.data() + layer.weights, layer.outputs, layer.inputs);
    MatrixXf before(layer.inputs, delta.cols());
    before.noalias() = weights.transpose() * delta;
    delta = before.cwiseProduct(slope(activation_, inputs));
  }
  return loss;
}

}  // namespace lp
