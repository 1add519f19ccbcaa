#pragma once
// Ranks instead of values, so that a search depends only on the order of its results. Pure: any thread.

#include <span>
#include <vector>

namespace lp {

// The rank of each value, from −½ for the least to ½ for the most (Salimans et al. 2017, section 2.1, fitness shaping).
// Equal values share the mean of their ranks, so that points with equal results move nothing. A single value has rank
// 0. The values must be numbers.
std::vector<float> centred_ranks(std::span<const double> values);

}  // namespace lp
