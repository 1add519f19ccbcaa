#include "programs/networks/layered_network.h"

#include <string>
#include <utility>

#include "lp/base/error.h"
#include "lp/base/random.h"

namespace lp {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

LayeredNetwork::LayeredNetwork(const Shape& inputs, const std::vector<LayerOptions>& layers) : inputs_(inputs.size()) {
  if (layers.empty()) throw Error(ErrorKind::failed, "a network needs at least one layer");
  Shape shape = inputs;
  for (const LayerOptions& one : layers) {
    layers_.push_back({.layer = make_layer(one, shape), .first = size_});
    shape = layers_.back().layer->outputs();
    size_ += layers_.back().layer->size();
  }
}

VectorXf LayeredNetwork::initialize(std::uint64_t seed) const {
  VectorXf out(size_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Random random(seed, "layer", i);
    layers_[i].layer->initialize(random, out.segment(layers_[i].first, layers_[i].layer->size()));
  }
  return out;
}

void LayeredNetwork::check(Index parameters, const MatrixXf& inputs) const {
  if (parameters == size_ && inputs.rows() == inputs_) return;
  throw Error(ErrorKind::failed, "a network of " + std::to_string(inputs_) + " inputs and " + std::to_string(size_) +
                                     " parameters was given " + std::to_string(inputs.rows()) + " inputs and " +
                                     std::to_string(parameters) + " parameters");
}

const MatrixXf& LayeredNetwork::forward(const Parameters& parameters, const MatrixXf& inputs) {
  check(parameters.size(), inputs);
  const MatrixXf* in = &inputs;
  for (Placed& one : layers_) {
    one.layer->forward(parameters.segment(one.first, one.layer->size()), *in, one.out);
    in = &one.out;
  }
  return *in;
}

void LayeredNetwork::backward(const Parameters& parameters, const MatrixXf& inputs, const MatrixXf& errors,
                              Gradient gradient, MatrixXf* input_errors) {
  check(gradient.size(), inputs);
  layers_.back().errors = errors;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Placed& one = layers_[i];
    const Index size = one.layer->size();
    one.layer->backward(parameters.segment(one.first, size), i == 0 ? inputs : layers_[i - 1].out, one.out, one.errors,
                        gradient.segment(one.first, size), i == 0 ? input_errors : &layers_[i - 1].errors);
  }
}

MakeNetwork dense_network(std::vector<Index> hidden, Unit unit, float scale) {
  return [hidden = std::move(hidden), unit, scale](const Shape& inputs, Index outputs) {
    std::vector<LayerOptions> layers;
    for (const Index units : hidden) layers.push_back(Dense{.units = units, .unit = unit});
    layers.push_back(Dense{.units = outputs, .scale = scale});
    return std::make_unique<LayeredNetwork>(inputs, layers);
  };
}

}  // namespace lp
