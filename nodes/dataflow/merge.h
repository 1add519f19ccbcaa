#pragma once
// Merges sorted segments into one sorted sequence of pairs. Of equal keys, those of an earlier segment come first, so
// the result is a function of the segments and their order.
//
// Owned by a task; one thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nodes/dataflow/sorted_run.h"

namespace lp::dataflow {

// A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1): a comparison for each level, and the prefixes of
// the keys are compared first.
class Merge {
 public:
  explicit Merge(std::vector<RunReader> readers);

  // Reads the next pair, which is valid until the next call. Returns false when there is none.
  bool next(Pair& pair);

 private:
  struct Input {
    RunReader reader;
    Pair pair{};
    std::uint64_t prefix = 0;
    bool over = false;
  };

  void advance(std::uint32_t input);
  bool before(std::uint32_t a, std::uint32_t b) const;
  void replay(std::uint32_t input);
  std::uint32_t build(std::size_t node);

  std::vector<Input> inputs_;
  std::vector<std::uint32_t> losers_;  // at the inner nodes, which are numbered from 1; 0 is the winner
  bool begun_ = false;
};

// A segment that is opened when it is read.
struct MergeInput {
  std::uint64_t bytes = 0;
  std::function<std::unique_ptr<SegmentSource>()> open{};
};

// Merges within a budget of memory: when the blocks of all segments would need more, some are merged into runs in files
// first, which `new_file` names and their owner removes.
Merge merge_within(std::vector<MergeInput> inputs, std::size_t memory, const std::function<std::string()>& new_file);

}  // namespace lp::dataflow
