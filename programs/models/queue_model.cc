#include "programs/models/queue_model.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;
using kernels::MakeQueue;
using kernels::Product;
using kernels::Queue;
using kernels::Room;
using Layer = MlpLayers::Layer;
using Transposed = Product::Transposed;

std::uint64_t unsigned_of(Index size) { return static_cast<std::uint64_t>(size); }

template <class Matrix>
auto values_of(Matrix& matrix) {
  return std::span(matrix.data(), static_cast<std::size_t>(matrix.size()));
}

// Makes room for `size` values, unless there is room already.
template <class T>
void enlarge(Queue& queue, Room<T>& room, Index size) {
  if (room.size() < unsigned_of(size)) room = Room<T>(queue, unsigned_of(size));
}

// Consecutive layers and their cross-entropy in the memory of a queue.
class QueueLayers {
 public:
  // With `logistic`, there is one output: the score of class 1 out of 2.
  QueueLayers(std::unique_ptr<Queue> queue, MlpLayers layers, bool logistic)
      : queue_(std::move(queue)),
        layers_(std::move(layers)),
        logistic_(logistic),
        parameters_(*queue_, unsigned_of(layers_.size())),
        gradient_(*queue_, unsigned_of(layers_.size())),
        values_(layers_.layers().size()),
        errors_(layers_.layers().size()) {}

  // The outputs of the last layer.
  MatrixXf outputs(const VectorXf& parameters, const MatrixXf& features) {
    forward(parameters, features);
    MatrixXf out(layers_.layers().back().outputs, features.cols());
    values_.back().read(values_of(out));
    queue_->wait();
    return out;
  }

  // Sets the gradient; returns the loss, summed in the order of the examples.
  double loss(const VectorXf& parameters, const Dataset& batch, VectorXf& gradient) {
    const Index examples = batch.examples();
    forward(parameters, batch.features);
    enlarge(*queue_, labels_, examples);
    enlarge(*queue_, losses_, examples);
    if (ones_.size() < unsigned_of(examples)) {
      const std::vector<float> ones(unsigned_of(examples), 1.0F);
      ones_ = Room<float>(*queue_, ones);
      queue_->wait();  // the queue reads them until then
    }
    labels_.write(values_of(batch.labels));
    float* const scores = values_.back().data();
    if (logistic_) {
      queue_->run(kernels::LogisticCrossEntropy{
          .scores = scores, .labels = labels_.data(), .examples = unsigned_of(examples), .losses = losses_.data()});
    } else {
      queue_->run(kernels::CrossEntropy{.scores = scores,
                                        .labels = labels_.data(),
                                        .classes = layers_.layers().back().outputs,
                                        .examples = unsigned_of(examples),
                                        .losses = losses_.data()});
    }
    gradient.resize(layers_.size());
    read_gradient(backward(examples), gradient);
    std::vector<double> losses(unsigned_of(examples));
    losses_.read(losses);
    queue_->wait();
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

 private:
  bool is_last(std::size_t i) const { return i + 1 == values_.size(); }

  void forward(const VectorXf& parameters, const MatrixXf& features) {
    const Index examples = features.cols();
    enlarge(*queue_, features_, features.size());
    queue_->wait();  // all memory is free for copies beside the work
    queue_->to_device_beside(features_.data(), features.data(), unsigned_of(features.size()) * sizeof(float));
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Layer& layer = layers_.layers()[i];
      queue_->to_device_beside(parameters_.data() + layer.weights, parameters.data() + layer.weights, bytes_of(i));
      enlarge(*queue_, values_[i], layer.outputs * examples);
      queue_->multiply({.rows = unsigned_of(layer.outputs),
                        .columns = unsigned_of(examples),
                        .inner = unsigned_of(layer.inputs),
                        .a = parameters_.data() + layer.weights,
                        .b = i == 0 ? features_.data() : values_[i - 1].data(),
                        .c = values_[i].data()});
      if (is_last(i)) {
        activate<kernels::Identity>(i, examples);
      } else if (layers_.activation() == Activation::relu) {
        activate<kernels::Relu>(i, examples);
      } else {
        activate<kernels::Tanh>(i, examples);
      }
    }
  }

  template <class Function>
  void activate(std::size_t i, Index examples) {
    const Layer& layer = layers_.layers()[i];
    queue_->run(kernels::Activate<Function>{.biases = parameters_.data() + layer.biases,
                                            .outputs = unsigned_of(layer.outputs),
                                            .sums = values_[i].data(),
                                            .examples = unsigned_of(examples)});
  }

  // A layer's weights and biases lie together.
  std::size_t bytes_of(std::size_t i) const {
    const Layer& layer = layers_.layers()[i];
    return unsigned_of((layer.inputs + 1) * layer.outputs) * sizeof(float);
  }

  // The gradients of the last layers come to the host while those of the first are computed.
  void read_gradient(const std::vector<std::shared_ptr<const cuda::Mark>>& made, VectorXf& gradient) {
    for (std::size_t i = values_.size(); i-- > 0;) {
      const Index from = layers_.layers()[i].weights;
      queue_->to_host_beside(gradient.data() + from, gradient_.data() + from, bytes_of(i), *made[i]);
    }
  }

  // From the derivative with respect to the last layer's sums, which is where its values were. Returns, by layer, when
  // its gradient is made.
  std::vector<std::shared_ptr<const cuda::Mark>> backward(Index examples) {
    std::vector<std::shared_ptr<const cuda::Mark>> made(values_.size());
    for (std::size_t i = values_.size(); i-- > 0;) {
      const Layer& layer = layers_.layers()[i];
      const auto outputs = unsigned_of(layer.outputs);
      const auto inputs = unsigned_of(layer.inputs);
      const float* const errors = is_last(i) ? values_[i].data() : errors_[i].data();
      queue_->multiply({.transposed = Transposed::second,
                        .rows = outputs,
                        .columns = inputs,
                        .inner = unsigned_of(examples),
                        .a = errors,
                        .b = i == 0 ? features_.data() : values_[i - 1].data(),
                        .c = gradient_.data() + layer.weights});
      queue_->multiply({.rows = outputs,
                        .columns = 1,
                        .inner = unsigned_of(examples),
                        .a = errors,
                        .b = ones_.data(),
                        .c = gradient_.data() + layer.biases});
      made[i] = queue_->mark();
      if (i == 0) break;
      enlarge(*queue_, errors_[i - 1], layer.inputs * examples);
      queue_->multiply({.transposed = Transposed::first,
                        .rows = inputs,
                        .columns = unsigned_of(examples),
                        .inner = outputs,
                        .a = parameters_.data() + layer.weights,
                        .b = errors,
                        .c = errors_[i - 1].data()});
      if (layers_.activation() == Activation::relu) {
        multiply_by_slope<kernels::Relu>(i - 1, layer.inputs * examples);
      } else {
        multiply_by_slope<kernels::Tanh>(i - 1, layer.inputs * examples);
      }
    }
    return made;
  }

  template <class Function>
  void multiply_by_slope(std::size_t i, Index size) {
    queue_->run(kernels::MultiplyBySlope<Function>{
        .values = values_[i].data(), .errors = errors_[i].data(), .size = unsigned_of(size)});
  }

  std::unique_ptr<Queue> queue_;
  MlpLayers layers_;
  bool logistic_;
  Room<float> parameters_;
  Room<float> gradient_;
  Room<float> features_{};
  Room<std::int32_t> labels_{};
  Room<double> losses_{};
  Room<float> ones_{};               // one for each example: the product with them is the sum over the examples
  std::vector<Room<float>> values_;  // by layer, after its activation
  std::vector<Room<float>> errors_;  // by layer but the last: the derivative with respect to its sums
};

// A model of the host, whose products and loss are computed on a queue.
template <class HostModel>
class QueueModel final : public Model {
 public:
  QueueModel(MakeQueue make_queue, HostModel model, MlpLayers layers, int classes)
      : make_queue_(std::move(make_queue)), model_(std::move(model)), layers_(std::move(layers)), classes_(classes) {}

  Index size() const override { return model_.size(); }
  VectorXf initialize(std::uint64_t seed) const override { return model_.initialize(seed); }
  Array<std::uint64_t> rows(const Dataset& batch) const override { return model_.rows(batch); }
  Index width() const override { return model_.width(); }

  MatrixXf scores(const VectorXf& parameters, const MatrixXf& features) const override {
    layers_.check(parameters, features);
    if (features.cols() == 0) return MatrixXf(classes_, 0);
    MatrixXf outputs = on_queue().outputs(parameters, features);
    if (!logistic()) return outputs;
    MatrixXf both = MatrixXf::Zero(2, outputs.cols());
    both.row(1) = outputs.row(0);
    return both;
  }

  MatrixXf scores_of(const VectorXf& parameters, const Dataset& data) const override {
    return data.is_sparse() ? model_.scores_of(parameters, data) : scores(parameters, data.features);
  }

  double loss(const VectorXf& parameters, const Dataset& batch, VectorXf& gradient) const override {
    if (batch.is_sparse()) return model_.loss(parameters, batch, gradient);
    layers_.check(parameters, batch.features);
    check_labels(batch.labels, batch.examples(), classes_);
    if (batch.examples() == 0) {
      gradient.setZero(size());
      return 0;
    }
    return on_queue().loss(parameters, batch, gradient);
  }

 private:
  bool logistic() const { return layers_.layers().back().outputs == 1 && classes_ == 2; }

  QueueLayers& on_queue() const {
    if (!on_queue_) on_queue_.emplace(make_queue_(), layers_, logistic());
    return *on_queue_;
  }

  const MakeQueue make_queue_;
  const HostModel model_;
  const MlpLayers layers_;
  const int classes_;
  mutable std::optional<QueueLayers> on_queue_{};
};

}  // namespace

std::unique_ptr<Model> on_queue(MakeQueue make_queue, const Mlp& model) {
  const auto classes = static_cast<int>(model.layers().layers().back().outputs);
  return std::make_unique<QueueModel<Mlp>>(std::move(make_queue), model, model.layers(), classes);
}

// Its parameters lie like those of one layer.
std::unique_ptr<Model> on_queue(MakeQueue make_queue, const LinearModel& model) {
  const MlpLayers layer({model.inputs(), model.width()}, Activation::relu);
  const int classes = model.width() == 1 ? 2 : static_cast<int>(model.width());
  return std::make_unique<QueueModel<LinearModel>>(std::move(make_queue), model, layer, classes);
}

}  // namespace lp
