#pragma once
// The sum of the gradients of one update. It is made in the order of the workers' numbers, so it has the same bits in
// whatever order the gradients have arrived. Functions and values; a Shard uses them in its server's turn.

#include <cstdint>
#include <span>
#include <vector>

#include "lp/base/array.h"
#include "lp/kernels/queue.h"
#include "nodes/parameters/key_index.h"
#include "nodes/parameters/parameter_messages.h"

namespace lp {

// A gradient that waits for its update.
struct WaitingGradient {
  std::uint64_t round = 0;
  Stamp stamp{};
  std::uint32_t examples = 0;
  double loss = 0;
  KeySet keys{};
  std::vector<SlotRun> runs{};
  Array<float> values{};
  kernels::Room<float> there{};  // the values in the memory of the shard's queue, if they were brought there
  float weight = 1;              // in the sum
};

// Puts the gradients into the order in which they are summed: that of their workers' numbers.
void sort_by_worker(std::vector<WaitingGradient>& gradients);

// Where the gradients have different rows, replaces them by one, which is their weighted sum. `index` has all rows.
void merge_rows(std::vector<WaitingGradient>& gradients, const KeyIndex& index, std::size_t width);

// Writes the weighted sum of the gradients' values from `from` on into `sum`. All gradients have the same rows.
void sum_values(std::span<const WaitingGradient> gradients, std::size_t from, std::span<float> sum);

}  // namespace lp
