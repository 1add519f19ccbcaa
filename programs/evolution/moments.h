#pragma once
// Mean and variance of each value of an observation, which parts of a search collect and one node merges. Values. The
// sums depend on the order of add and merge, so that the same order gives the same bits.

#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace lp {

struct Moments {
  std::uint64_t count = 0;        // observations
  std::vector<double> mean{};     // by value; empty before the first observation
  std::vector<double> squares{};  // Σ (x − mean)²

  // Adds the observation of each column.
  void add(const Eigen::MatrixXf& observations);
  // Adds those of `other` (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
  // variances", 1979, equations 2.1). Error::failed when these have another number of values.
  void merge(const Moments& other);

  // Writes the mean, and then 1 / standard deviation, of each value: 0 and 1 before the second observation, and the
  // deviation at least 0.01. `out` has room for both.
  void write_scale(std::span<float> out) const;
};

}  // namespace lp
