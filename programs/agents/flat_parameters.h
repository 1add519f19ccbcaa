#pragma once
// Parameters between a learner's vectors and the arrays that are sent and saved. Pure: any thread.

#include <span>
#include <string>

#include <Eigen/Core>

#include "lp/base/array.h"

namespace lp {

std::span<float> span_of(Eigen::VectorXf& values);

Array<float> array_of(const Eigen::Ref<const Eigen::VectorXf>& values);

// Copies the array into `values`. Error::failed when their sizes differ.
void read_parameters(const Array<float>& array, Eigen::VectorXf& values);

// Sixteen hexadecimal digits, equal for the same bits.
std::string hash_of(const Array<float>& parameters);

}  // namespace lp
