#include "programs/models/mlp.h"

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

MlpLayers::MlpLayers(const std::vector<Index>& units, Activation activation, bool first, bool last)
    : activation_(activation), first_(first), last_(last) {
  if (units.size() < 2) throw Error(ErrorKind::failed, "an MLP needs inputs and classes: at least two layers");
  for (const Index count : units) {
    if (count < 1) throw Error(ErrorKind::failed, "an MLP's layer has " + std::to_string(count) + " units");
  }
  for (std::size_t i = 0; i + 1 < units.size(); ++i) {
    const Index inputs = units[i];
    const Index outputs = units[i + 1];
    layers_.push_back({inputs, outputs, size_, size_ + inputs * outputs});
    size_ += inputs * outputs + outputs;
  }
}

void MlpLayers::check(const VectorXf& parameters, const MatrixXf& inputs) const {
  if (parameters.size() != size_) {
    throw Error(ErrorKind::failed,
                "an MLP of " + std::to_string(size_) + " parameters was given " + std::to_string(parameters.size()));
  }
  if (inputs.rows() != layers_.front().inputs) {
    throw Error(ErrorKind::failed, "an MLP of " + std::to_string(layers_.front().inputs) +
                                       " inputs was given examples of " + std::to_string(inputs.rows()) + " features");
  }
}

std::vector<MatrixXf> MlpLayers::forward(const VectorXf& parameters, const MatrixXf& inputs) const {
  check(parameters, inputs);
  std::vector<MatrixXf> out;
  for (const Layer& layer : layers_) {
    const ConstMatrix weights(parameters.data() + layer.weights, layer.outputs, layer.inputs);
    const ConstVector biases(parameters.data() + layer.biases, layer.outputs);
    MatrixXf sums(layer.outputs, inputs.cols());
    sums.noalias() = weights * (out.empty() ? inputs : out.back());
    sums.colwise() += biases;
    if (!last_ || &layer != &layers_.back()) activate(activation_, sums);
    out.push_back(std::move(sums));
  }
  return out;
}

// Visits the layers from the last to the first; returns the derivative with respect to the inputs.
MatrixXf MlpLayers::walk_back(const VectorXf& parameters, const MatrixXf& inputs, const std::vector<MatrixXf>& outputs,
                              MatrixXf delta, const Visit& visit) const {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    // From here on, delta is with respect to the layer's sums.
    if (!last_ || i + 1 < layers_.size()) delta = delta.cwiseProduct(slope(activation_, outputs[i])).eval();
    visit(i, delta, i == 0 ? inputs : outputs[i - 1]);
    if (i == 0 && first_) return {};
    const ConstMatrix weights(parameters.data() + layer.weights, layer.outputs, layer.inputs);
    MatrixXf before(layer.inputs, delta.cols());
    before.noalias() = weights.transpose() * delta;
    delta = std::move(before);
  }
  return delta;
}

MatrixXf MlpLayers::backward(const VectorXf& parameters, const MatrixXf& inputs, const std::vector<MatrixXf>& outputs,
                             MatrixXf delta, VectorXf& gradient) const {
  gradient.resize(size_);
  return walk_back(parameters, inputs, outputs, std::move(delta),
                   [&](std::size_t i, const MatrixXf& errors, const MatrixXf& before) {
                     const Layer& layer = layers_[i];
                     Eigen::Map<MatrixXf>(gradient.data() + layer.weights, layer.outputs, layer.inputs).noalias() =
                         errors * before.transpose();
                     Eigen::Map<VectorXf>(gradient.data() + layer.biases, layer.outputs) = errors.rowwise().sum();
                   });
}

void MlpLayers::factorize(const VectorXf& parameters, const MatrixXf& inputs, const std::vector<MatrixXf>& outputs,
                          MatrixXf delta, VectorXf& factors) const {
  const Index examples = inputs.cols();
  Index end = 0;
  for (const Layer& layer : layers_) end += (layer.outputs + layer.inputs) * examples;
  factors.resize(end);
  walk_back(parameters, inputs, outputs, std::move(delta),
            [&](std::size_t i, const MatrixXf& errors, const MatrixXf& before) {
              const Layer& layer = layers_[i];
              end -= (layer.outputs + layer.inputs) * examples;
              Eigen::Map<MatrixXf>(factors.data() + end, layer.outputs, examples) = errors;
              Eigen::Map<MatrixXf>(factors.data() + end + layer.outputs * examples, layer.inputs, examples) = before;
            });
}

VectorXf Mlp::initialize(std::uint64_t seed) const {
  const std::span<const MlpLayers::Layer> layers = layers_.layers();
  VectorXf out = VectorXf::Zero(size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const MlpLayers::Layer& layer = layers[i];
    Random random(seed, "mlp", i);
    const bool relu = layers_.activation() == Activation::relu && i + 1 < layers.size();
    const double variance = (relu ? 2.0 : 1.0) / static_cast<double>(layer.inputs);
    for (Index k = layer.weights; k < layer.biases; ++k) {
      out(k) = static_cast<float>(std::sqrt(variance) * random.normal());
    }
  }
  return out;
}

MatrixXf Mlp::scores(const VectorXf& parameters, const MatrixXf& features) const {
  return std::move(layers_.forward(parameters, features).back());
}

double Mlp::loss(const VectorXf& parameters, const Dataset& batch, VectorXf& gradient) const {
  layers_.check(parameters, batch.features);
  gradient.setZero(size());
  if (batch.examples() == 0) return 0;  // Eigen computes addresses inside empty matrices, which have none
  const std::vector<MatrixXf> outputs = layers_.forward(parameters, batch.features);
  MatrixXf delta = outputs.back();
  const double loss = softmax_cross_entropy(delta, batch.labels);
  layers_.backward(parameters, batch.features, outputs, std::move(delta), gradient);
  return loss;
}

double Mlp::loss_in_factors(const VectorXf& parameters, const Dataset& batch, VectorXf& factors) const {
  layers_.check(parameters, batch.features);
  factors.resize(0);
  if (batch.examples() == 0) return 0;
  const std::vector<MatrixXf> outputs = layers_.forward(parameters, batch.features);
  MatrixXf delta = outputs.back();
  const double loss = softmax_cross_entropy(delta, batch.labels);
  layers_.factorize(parameters, batch.features, outputs, std::move(delta), factors);
  return loss;
}

}  // namespace lp
