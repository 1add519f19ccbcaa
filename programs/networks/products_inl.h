#pragma once
// The bodies of products.h, in a namespace of the vectors for which they are compiled. Included by products.cc and
// products_avx2.cc only; the same threads.

#include <Eigen/Core>

#include "programs/networks/products.h"

namespace lp::LP_VECTORS {

// Calls f with both sides as Eigen's matrices.
template <class F>
void with_sides(const Product& product, F f) {
  using Matrix = Eigen::Map<const Eigen::MatrixXf>;
  const auto& [left, right, rows, inner, columns] = product;
  const Matrix a(left.values, left.transposed ? inner : rows, left.transposed ? rows : inner);
  const Matrix b(right.values, right.transposed ? columns : inner, right.transposed ? inner : columns);
  if (left.transposed) {
    right.transposed ? f(a.transpose(), b.transpose()) : f(a.transpose(), b);
  } else {
    right.transposed ? f(a, b.transpose()) : f(a, b);
  }
}

void multiply(const Product& product, float* out) {
  Eigen::Map<Eigen::MatrixXf> result(out, product.rows, product.columns);
  with_sides(product, [&](const auto& a, const auto& b) { result.noalias() = a * b; });
}

void multiply_add(const Product& product, float* out) {
  Eigen::Map<Eigen::MatrixXf> result(out, product.rows, product.columns);
  with_sides(product, [&](const auto& a, const auto& b) { result.noalias() += a * b; });
}

void tanh_all(float* values, std::ptrdiff_t count) {
  Eigen::Map<Eigen::ArrayXf> all(values, count);
  all = all.tanh();
}

}  // namespace lp::LP_VECTORS
