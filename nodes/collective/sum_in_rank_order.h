#pragma once
// The sum of what the ranks of a collective give. It begins with rank 0 and adds rank after rank, so it has the same
// bits on every rank and in whatever order the values have arrived. Ring and halving (allreduce.cc) have orders of
// their own. Functions of values; any thread.

#include <span>

#include "lp/base/array.h"

namespace lp {

// Adds element by element, from the array of rank 0 to that of the last rank. All have one size, and there is at least
// one.
Array<float> sum_in_rank_order(std::span<const Array<float>> arrays);

}  // namespace lp
