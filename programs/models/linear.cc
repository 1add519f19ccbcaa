#include "programs/models/linear.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "lp/base/error.h"

namespace lp {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;
using Sparse = Eigen::SparseMatrix<float>;

// Calls f(row, value) for each entry of an example.
template <class F>
void for_each_value(const Sparse& features, Index example, F f) {
  for (Sparse::InnerIterator at(features, example); at; ++at) f(at.row(), at.value());
}

}  // namespace

LinearModel::LinearModel(Index inputs, int classes) : inputs_(inputs), width_(classes == 2 ? 1 : classes) {
  if (inputs < 1 || classes < 2) {
    throw Error(ErrorKind::failed, "a linear model of " + std::to_string(inputs) + " inputs and " +
                                       std::to_string(classes) + " classes: give at least 1 input and 2 classes");
  }
}

VectorXf LinearModel::initialize(std::uint64_t) const { return VectorXf::Zero(size()); }

Array<std::uint64_t> LinearModel::rows(const Dataset& batch) const {
  if (!batch.is_sparse()) return {};
  std::vector<std::uint64_t> rows;
  rows.reserve(static_cast<std::size_t>(batch.sparse.nonZeros()) + 1);
  for (Index example = 0; example < batch.examples(); ++example) {
    for_each_value(batch.sparse, example, [&](Index row, float) { rows.push_back(static_cast<std::uint64_t>(row)); });
  }
  rows.push_back(static_cast<std::uint64_t>(inputs_));
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return Array<std::uint64_t>::copy_of(rows);
}

void LinearModel::check(Index parameters, Index wanted) const {
  if (parameters == wanted) return;
  throw Error(ErrorKind::failed, "a linear model of " + std::to_string(inputs_) + " inputs needs " +
                                     std::to_string(wanted) + " parameters for these examples, but was given " +
                                     std::to_string(parameters));
}

MatrixXf LinearModel::with_zero_class(const MatrixXf& outputs) const {
  if (width_ != 1) return outputs;
  MatrixXf scores = MatrixXf::Zero(2, outputs.cols());
  scores.row(1) = outputs.row(0);
  return scores;
}

MatrixXf LinearModel::scores(const VectorXf& parameters, const MatrixXf& features) const {
  check(parameters.size(), size());
  if (features.rows() != inputs_) {
    throw Error(ErrorKind::failed, "a linear model of " + std::to_string(inputs_) + " inputs was given examples of " +
                                       std::to_string(features.rows()) + " features");
  }
  const Eigen::Map<const MatrixXf> weights(parameters.data(), width_, inputs_);
  MatrixXf outputs = weights * features;
  outputs.colwise() += parameters.tail(width_);
  return with_zero_class(outputs);
}

MatrixXf LinearModel::scores_of(const VectorXf& parameters, const Dataset& data) const {
  if (!data.is_sparse()) return scores(parameters, data.features);
  check(parameters.size(), size());
  if (data.inputs() > inputs_) {
    throw Error(ErrorKind::failed, "a linear model of " + std::to_string(inputs_) + " inputs was given examples of " +
                                       std::to_string(data.inputs()) + " features");
  }
  MatrixXf outputs(width_, data.examples());
  for (Index example = 0; example < data.examples(); ++example) {
    outputs.col(example) = parameters.tail(width_);
    for_each_value(data.sparse, example, [&](Index row, float value) {
      outputs.col(example) += value * parameters.segment(row * width_, width_);
    });
  }
  return with_zero_class(outputs);
}

double LinearModel::loss(const VectorXf& parameters, const Dataset& batch, VectorXf& gradient) const {
  gradient.setZero(parameters.size());
  if (batch.examples() == 0) return 0;
  if (!batch.is_sparse()) {
    MatrixXf delta = scores(parameters, batch.features);
    const double loss = softmax_cross_entropy(delta, batch.labels);
    const MatrixXf outputs = delta.bottomRows(width_);
    Eigen::Map<MatrixXf>(gradient.data(), width_, inputs_).noalias() = outputs * batch.features.transpose();
    gradient.tail(width_) = outputs.rowwise().sum();
    return loss;
  }
  const Array<std::uint64_t> keys = rows(batch);
  const bool all = parameters.size() == size();
  if (!all) check(parameters.size(), static_cast<Index>(keys.size()) * width_);
  const auto place = [&](Index row) {
    if (all) return row * width_;
    return (std::lower_bound(keys.begin(), keys.end(), static_cast<std::uint64_t>(row)) - keys.begin()) * width_;
  };
  MatrixXf outputs(width_, batch.examples());
  for (Index example = 0; example < batch.examples(); ++example) {
    outputs.col(example) = parameters.tail(width_);
    for_each_value(batch.sparse, example, [&](Index row, float value) {
      outputs.col(example) += value * parameters.segment(place(row), width_);
    });
  }
  MatrixXf delta = with_zero_class(outputs);
  const double loss = softmax_cross_entropy(delta, batch.labels);
  for (Index example = 0; example < batch.examples(); ++example) {
    const auto output = delta.col(example).tail(width_);
    gradient.tail(width_) += output;
    for_each_value(batch.sparse, example,
                   [&](Index row, float value) { gradient.segment(place(row), width_) += value * output; });
  }
  return loss;
}

}  // namespace lp
