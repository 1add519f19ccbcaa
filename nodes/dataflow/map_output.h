#pragma once
// The pairs that a map task emits, on their way into sorted runs: combined by key when the job has a combiner, within a
// budget of memory. Owned by a task; one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nodes/dataflow/combine_table.h"
#include "nodes/dataflow/partitioner.h"
#include "nodes/dataflow/sort_buffer.h"
#include "nodes/dataflow/sorted_run.h"

namespace lp::dataflow {

class MapOutput {
 public:
  // Runs are in files that `new_file` names. With `combined`, the size of every value, pairs are combined.
  MapOutput(Partitioner partitioner, std::size_t memory, std::optional<std::size_t> combined,
            std::function<std::string()> new_file);

  bool combines() const { return table_.has_value(); }
  void add(const Pair& pair) {
    ++pairs_;
    if (!buffer_->add(partitioner_(pair.key), pair)) [[unlikely]] {
      add_to_full(pair);
    }
  }
  // The value of a key, to be combined with another, or to be written when it was `added`.
  char* find_or_add(std::string_view key, bool& added) {
    ++pairs_;
    char* const value = table_->find_or_add(key, added);
    return value != nullptr ? value : add_to_full(key, added);
  }
  std::uint64_t pairs() const { return pairs_; }  // that came

  // Writes the last run. Returns all, in their order.
  std::vector<SortedRun> finish();
  // Keys that were added, sorted, instead of runs: at most kMostKeys, evenly. Only without a combiner.
  static constexpr std::size_t kMostKeys = 20'000;
  std::vector<std::string> keys();

 private:
  void add_to_full(const Pair& pair);
  char* add_to_full(std::string_view key, bool& added);
  void spill();

  const Partitioner partitioner_;
  const std::function<std::string()> new_file_;
  std::optional<SortBuffer> buffer_{};
  std::optional<CombineTable> table_{};
  std::uint64_t pairs_ = 0;
  std::vector<SortedRun> runs_{};
};

}  // namespace lp::dataflow
