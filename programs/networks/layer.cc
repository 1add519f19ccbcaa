#include "programs/networks/layer.h"

#include <cmath>
#include <string>
#include <tuple>

#include "lp/base/error.h"
#include "programs/networks/products.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using ConstMatrix = Eigen::Map<const MatrixXf>;
using Matrix = Eigen::Map<MatrixXf>;

void activate(Unit unit, MatrixXf& sums) {
  switch (unit) {
    case Unit::linear: break;
    case Unit::relu: sums = sums.cwiseMax(0.0F); break;
    case Unit::tanh: tanh_all(sums.data(), sums.size()); break;
  }
}

// Makes errors of the units' values errors of their sums.
void through_units(Unit unit, const MatrixXf& values, MatrixXf& errors) {
  switch (unit) {
    case Unit::linear: break;
    case Unit::relu: errors = (values.array() > 0.0F).select(errors, 0.0F); break;
    case Unit::tanh: errors.array() *= 1.0F - values.array().square(); break;
  }
}

void draw_weights(Random& random, Unit unit, float scale, Index inputs, Network::Gradient weights) {
  const double deviation =
      static_cast<double>(scale) * std::sqrt((unit == Unit::relu ? 2.0 : 1.0) / static_cast<double>(inputs));
  for (float& one : weights) one = static_cast<float>(deviation * random.normal());
}

class DenseLayer final : public Layer {
 public:
  DenseLayer(const Dense& options, Index inputs) : options_(options), inputs_(inputs) {}

  Shape outputs() const override { return {.width = options_.units}; }
  Index size() const override { return options_.units * (inputs_ + 1); }
  void initialize(Random& random, Network::Gradient parameters) const override {
    parameters.setZero();
    draw_weights(random, options_.unit, options_.scale, inputs_, parameters.head(options_.units * inputs_));
  }
  void forward(const Parameters& parameters, const MatrixXf& in, MatrixXf& out) override {
    out.resize(options_.units, in.cols());
    multiply({.left = {parameters.data()},
              .right = {in.data()},
              .rows = options_.units,
              .inner = inputs_,
              .columns = in.cols()},
             out.data());
    out.colwise() += parameters.tail(options_.units);
    activate(options_.unit, out);
  }
  void backward(const Parameters& parameters, const MatrixXf& in, const MatrixXf& out, MatrixXf& errors,
                Network::Gradient gradient, MatrixXf* before) override {
    through_units(options_.unit, out, errors);
    multiply({.left = {errors.data()},
              .right = {in.data(), /*transposed=*/true},
              .rows = options_.units,
              .inner = in.cols(),
              .columns = inputs_},
             gradient.data());
    gradient.tail(options_.units) = errors.rowwise().sum();
    if (before == nullptr) return;
    before->resize(inputs_, in.cols());
    multiply({.left = {parameters.data(), /*transposed=*/true},
              .right = {errors.data()},
              .rows = inputs_,
              .inner = options_.units,
              .columns = in.cols()},
             before->data());
  }

 private:
  const Dense options_;
  const Index inputs_;
};

// The windows of an example are the rows of a matrix (positions × weights of a channel), so that its product with the
// weights has the outputs in their order: by channel, then by position.
class ConvolutionLayer final : public Layer {
 public:
  ConvolutionLayer(const Convolution& options, const Shape& inputs)
      : options_(options),
        inputs_(inputs),
        outputs_{.channels = options.channels,
                 .height = (inputs.height - options.window) / options.stride + 1,
                 .width = (inputs.width - options.window) / options.stride + 1} {}

  Shape outputs() const override { return outputs_; }
  Index size() const override { return options_.channels * (weights() + 1); }
  void initialize(Random& random, Network::Gradient parameters) const override {
    parameters.setZero();
    draw_weights(random, options_.unit, 1, weights(), parameters.head(weights() * options_.channels));
  }
  void forward(const Parameters& parameters, const MatrixXf& in, MatrixXf& out) override {
    out.resize(outputs_.size(), in.cols());
    windows_.resize(positions() * weights(), in.cols());
    for (Index i = 0; i < in.cols(); ++i) {
      visit([&](Index window, Index pixel) { windows_(window, i) = in(pixel, i); });
      Matrix values(out.col(i).data(), positions(), options_.channels);
      multiply({.left = {windows_.col(i).data()},
                .right = {parameters.data()},
                .rows = positions(),
                .inner = weights(),
                .columns = options_.channels},
               values.data());
      values.rowwise() += parameters.tail(options_.channels).transpose();
    }
    activate(options_.unit, out);
  }
  void backward(const Parameters& parameters, const MatrixXf& in, const MatrixXf& out, MatrixXf& errors,
                Network::Gradient gradient, MatrixXf* before) override {
    through_units(options_.unit, out, errors);
    gradient.setZero();
    window_errors_.resize(positions(), weights());
    if (before != nullptr) before->setZero(in.rows(), in.cols());
    for (Index i = 0; i < in.cols(); ++i) {
      const ConstMatrix own(errors.col(i).data(), positions(), options_.channels);
      multiply_add({.left = {windows_.col(i).data(), /*transposed=*/true},
                    .right = {own.data()},
                    .rows = weights(),
                    .inner = positions(),
                    .columns = options_.channels},
                   gradient.data());
      gradient.tail(options_.channels) += own.colwise().sum().transpose();
      if (before == nullptr) continue;
      multiply({.left = {own.data()},
                .right = {parameters.data(), /*transposed=*/true},
                .rows = positions(),
                .inner = options_.channels,
                .columns = weights()},
               window_errors_.data());
      visit([&](Index window, Index pixel) { (*before)(pixel, i) += window_errors_(window); });
    }
  }

 private:
  Index weights() const { return inputs_.channels * options_.window * options_.window; }  // weights of one channel
  Index positions() const { return outputs_.height * outputs_.width; }

  // Calls f for each value of an example's windows, with its place there and its place in the input.
  template <class F>
  void visit(F f) const {
    Index window = 0;
    for (Index channel = 0; channel < inputs_.channels; ++channel) {
      for (Index y = 0; y < options_.window; ++y) {
        for (Index x = 0; x < options_.window; ++x) {
          for (Index row = 0; row < outputs_.height; ++row) {
            const Index line = (channel * inputs_.height + row * options_.stride + y) * inputs_.width + x;
            for (Index column = 0; column < outputs_.width; ++column) f(window++, line + column * options_.stride);
          }
        }
      }
    }
  }

  const Convolution options_;
  const Shape inputs_;
  const Shape outputs_;
  MatrixXf windows_{};        // those of an example in a column
  MatrixXf window_errors_{};  // errors of one example
};

[[noreturn]] void refuse(const std::string& problem) { throw Error(ErrorKind::failed, "a network's " + problem); }

}  // namespace

std::unique_ptr<Layer> make_layer(const LayerOptions& options, const Shape& inputs) {
  if (inputs.channels < 1 || inputs.height < 1 || inputs.width < 1) refuse("layer has no inputs: give it a shape");
  if (const auto* dense = std::get_if<Dense>(&options)) {
    if (dense->units < 1) refuse("dense layer has " + std::to_string(dense->units) + " units: give one or more");
    return std::make_unique<DenseLayer>(*dense, inputs.size());
  }
  const auto& convolution = std::get<Convolution>(options);
  if (convolution.channels < 1 || convolution.window < 1 || convolution.stride < 1) {
    refuse("convolution needs at least one channel, a window of 1 and a stride of 1");
  }
  if (convolution.window > inputs.height || convolution.window > inputs.width) {
    refuse("convolution has a window of " + std::to_string(convolution.window) + " on images of " +
           std::to_string(inputs.height) + " × " + std::to_string(inputs.width) + ": make it smaller");
  }
  return std::make_unique<ConvolutionLayer>(convolution, inputs);
}

}  // namespace lp
