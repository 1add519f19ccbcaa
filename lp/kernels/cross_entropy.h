#pragma once
// The cross-entropy of softmax(scores) and its derivative, example by example. In double: it is little work, and the
// loss of an example must not depend on its position in the batch.
//
// Values and pure functions: any thread.

#include <cmath>
#include <cstdint>

#include "lp/kernels/host_device.h"

namespace lp::kernels {

// Returns the loss of an example, and replaces its scores by the derivative with respect to them.
LP_HOST_DEVICE inline double cross_entropy(float* scores, std::int64_t classes, std::int64_t label) {
  float highest_score = scores[0];
  for (std::int64_t i = 1; i < classes; ++i) highest_score = highest_score < scores[i] ? scores[i] : highest_score;
  const auto highest = static_cast<double>(highest_score);
  double sum = 0;
  for (std::int64_t i = 0; i < classes; ++i) sum += std::exp(static_cast<double>(scores[i]) - highest);
  const double loss = std::log(sum) + highest - static_cast<double>(scores[label]);
  for (std::int64_t i = 0; i < classes; ++i) {
    scores[i] = static_cast<float>(std::exp(static_cast<double>(scores[i]) - highest) / sum - (i == label ? 1 : 0));
  }
  return loss;
}

// Every example: its loss, and the derivative in place of its scores.
struct CrossEntropy {
  float* scores;  // classes × examples
  const std::int32_t* labels;
  std::int64_t classes;
  std::uint64_t examples;
  double* losses;

  LP_HOST_DEVICE std::uint64_t indices() const { return examples; }
  LP_HOST_DEVICE void operator()(std::uint64_t example) const {
    const std::uint64_t first = example * static_cast<std::uint64_t>(classes);
    losses[example] = cross_entropy(scores + first, classes, labels[example]);
  }
};

// The same with two classes, of which only class 1 has a score: that of class 0 is 0.
struct LogisticCrossEntropy {
  float* scores;
  const std::int32_t* labels;
  std::uint64_t examples;
  double* losses;

  LP_HOST_DEVICE std::uint64_t indices() const { return examples; }
  LP_HOST_DEVICE void operator()(std::uint64_t example) const {
    float both[2] = {0, scores[example]};
    losses[example] = cross_entropy(both, 2, labels[example]);
    scores[example] = both[1];
  }
};

}  // namespace lp::kernels
