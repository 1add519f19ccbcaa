#pragma once
// A network of layers, one after the other, in float32. After the first batch of a size, it allocates nothing for
// further ones of at most that size (Eigen's products have memory of their own for large matrices).
//
// Owned by a node; one thread at a time.

#include <cstdint>
#include <memory>
#include <vector>

#include <Eigen/Core>

#include "programs/networks/layer.h"
#include "programs/networks/network.h"

namespace lp {

class LayeredNetwork final : public Network {
 public:
  // Error::failed without layers, and when a layer does not fit the one before it.
  LayeredNetwork(const Shape& inputs, const std::vector<LayerOptions>& layers);

  Eigen::Index inputs() const override { return inputs_; }
  Eigen::Index outputs() const override { return layers_.back().layer->outputs().size(); }
  Eigen::Index size() const override { return size_; }
  Eigen::VectorXf initialize(std::uint64_t seed) const override;
  const Eigen::MatrixXf& forward(const Parameters& parameters, const Eigen::MatrixXf& inputs) override;
  void backward(const Parameters& parameters, const Eigen::MatrixXf& inputs, const Eigen::MatrixXf& errors,
                Gradient gradient, Eigen::MatrixXf* input_errors = nullptr) override;

 private:
  struct Placed {
    std::unique_ptr<Layer> layer;
    Eigen::Index first = 0;  // where its parameters begin
    Eigen::MatrixXf out{};
    Eigen::MatrixXf errors{};
  };

  void check(Eigen::Index parameters, const Eigen::MatrixXf& inputs) const;

  Eigen::Index inputs_ = 0;
  Eigen::Index size_ = 0;
  std::vector<Placed> layers_{};
};

// Hidden layers of these many units, then a linear layer whose initial weights are scaled.
MakeNetwork dense_network(std::vector<Eigen::Index> hidden, Unit unit, float scale = 1);

}  // namespace lp
