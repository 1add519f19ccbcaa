#pragma once
// Eigen's vectors as the spans that servers and optimizers take, and requests for all or some rows of the first tensor.
// Pure functions, except for the client that they are given.

#include <cstddef>
#include <cstdint>
#include <span>

#include <Eigen/Core>

#include "nodes/parameters/parameter_client.h"
#include "programs/models/model.h"
#include "programs/training/training.h"

namespace lp {

inline std::span<const float> flat(const Eigen::VectorXf& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}
inline std::span<float> flat(Eigen::VectorXf& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}

// A step of gradient descent by the gradient summed over `examples` examples, at least one.
inline void descend(Optimizer& optimizer, Eigen::VectorXf& parameters, const Eigen::VectorXf& gradient,
                    std::uint32_t examples) {
  const Eigen::VectorXf mean = gradient / static_cast<float>(examples);
  optimizer.apply(flat(parameters), flat(mean));
}

// Resizes `to`, which must live until the request is done.
inline ParameterClient::Request start_pull(ParameterClient& servers, const Model& model, std::uint64_t clock,
                                           const Rows& rows, Eigen::VectorXf& to) {
  to.resize(rows.empty() ? model.size() : static_cast<Eigen::Index>(rows.size()) * model.width());
  if (rows.empty()) return servers.start_pull(0, clock, flat(to));
  return servers.start_pull_rows(0, clock, rows, flat(to));
}
inline ParameterClient::Request start_push(ParameterClient& servers, std::uint64_t clock, const Rows& rows,
                                           const Eigen::VectorXf& gradient, std::uint32_t examples) {
  if (rows.empty()) return servers.start_push(0, clock, flat(gradient), examples);
  return servers.start_push_rows(0, clock, rows, Array<float>::copy_of(flat(gradient)), examples);
}

}  // namespace lp
