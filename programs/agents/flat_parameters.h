#pragma once
// Parameters between a learner's vectors and the arrays that are sent and saved. Pure: any thread.

#include <cstddef>
#include <span>

#include <Eigen/Core>

#include "lp/base/array.h"

namespace lp {

std::span<float> span_of(Eigen::VectorXf& values);

Array<float> array_of(const Eigen::Ref<const Eigen::VectorXf>& values);

// Copies the array into `values`. Error::failed when their sizes differ.
void read_parameters(const Array<float>& array, Eigen::VectorXf& values);

}  // namespace lp
