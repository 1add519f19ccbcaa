#pragma once
// One tensor's part at one server: rows, optimizer, clocks, and the gradients that wait for their update. What it
// becomes is a function of the pushes in their order, so a replica that gets the same pushes is the same, bit for bit.
//
// Pure: no node, no time. Owned by a ParameterServer, whose turn is its lock.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lp/base/array.h"
#include "lp/checkpoint/checkpoint.h"
#include "nodes/parameters/bad_values.h"
#include "nodes/parameters/consistency.h"
#include "nodes/parameters/gradient.h"
#include "nodes/parameters/key_index.h"
#include "nodes/parameters/optimizer.h"

namespace lp {

struct ShardOptions {
  OptimizerRule rule = Sgd{};
  Consistency consistency = Synchronous{};
  std::uint32_t workers = 1;
  BadValues bad_values = BadValues::refuse;
  std::uint32_t width = 1;  // values of a row
};

// What a shard has done.
struct ShardStatistics {
  static constexpr std::size_t kStaleness = 64;  // the last entry counts all that are older

  std::uint64_t updates = 0;
  std::uint64_t applied = 0;               // gradients
  std::uint64_t dropped = 0;               // gradients that came too late
  std::uint64_t duplicates = 0;            // pushes that were there already
  std::vector<std::uint64_t> staleness{};  // applied gradients by the updates since the parameters they come from

  void add(const ShardStatistics& other);
  double mean_staleness() const;
};

class Shard {
 public:
  static constexpr std::size_t kMostWaiting = BoundedDelay::kMostAhead + 1;  // gradients of each worker

  // Dense: `values` are the rows of the index's keys. Sparse: `values` is empty; rows are 0 until they are pushed.
  // Error::failed when a number does not fit.
  Shard(KeyIndex index, Array<float> values, const ShardOptions& options);

  // Takes a push, and does the updates that it completes. The list of keys stands in the push, not its hash alone.
  //
  // Error::overloaded when too many gradients wait for the slowest worker.
  // Error::failed, which names the worker, for values that are refused, a size that does not fit, keys that do not
  // ascend and, of a dense tensor, keys that are not here. After an error nothing has changed.
  PushOutcome push(const Push& push);

  // Whether a read at this clock of a worker may be answered now.
  bool readable(std::uint64_t clock) const;
  // Whether pushes of the worker before this clock are not here, because the server was restarted: a read at that clock
  // could wait for ever.
  bool lost_pushes(std::uint32_t worker, std::uint64_t clock) const;
  // The clock of the worker of a push after it.
  std::uint64_t clock_after(const Stamp& stamp) const;
  // Error::failed for keys that do not ascend or, of a dense tensor, are not here. Unknown keys of a sparse one are 0.
  Reply read(const KeySet& keys) const;

  // The worker will push no more: no update and no read waits for it, until it pushes again.
  void leave(std::uint32_t worker);

  std::uint64_t version() const { return progress_.version; }
  std::uint64_t clock(std::uint32_t worker) const;
  std::uint64_t slowest() const { return progress_.slowest; }
  bool all_left() const { return present_ == 0; }
  double loss() const { return loss_; }  // mean over the examples of the newest update
  const KeyIndex& index() const { return index_; }
  const Array<float>& values() const { return values_; }      // dense: by key
  const Array<float>& previous() const { return previous_; }  // Synchronous: of the version before; else empty
  const ShardStatistics& statistics() const { return statistics_; }

  // What waits for an update is not saved: its workers push it again. Nor is who has left: after load() all workers are
  // there, and who has nothing left to do leaves again. `name` goes before each entry's name.
  void save(Checkpoint& out, const std::string& name) const;
  // Error::failed when what was saved is of another size or another kind of rule.
  void load(const Checkpoint& in, const std::string& name);

 private:
  struct Waiting {
    std::uint64_t round = 0;
    Stamp stamp{};
    std::uint32_t examples = 0;
    double loss = 0;
    KeySet keys{};
    std::vector<SlotRun> runs{};
    Array<float> values{};
  };

  std::vector<SlotRun> runs_of(const KeySet& keys, std::vector<std::uint32_t>& missing) const;
  [[noreturn]] void refuse_key(std::uint64_t key) const;
  Array<float> checked(const Push& push, std::size_t rows) const;
  void insert(const KeySet& keys, const std::vector<std::uint32_t>& missing);
  void update_while_complete();
  void apply(std::vector<Waiting> gradients);
  Waiting merged(const Waiting& a, float weight_a, const Waiting& b, float weight_b) const;
  std::uint32_t needed() const;
  void set_clock(std::uint32_t worker, std::uint64_t clock);
  void count_workers();

  KeyIndex index_;
  const ShardOptions options_;
  std::uint32_t present_;  // workers that have not left
  ShardProgress progress_{};
  std::vector<std::uint64_t> clocks_;  // by worker: of its next push
  std::vector<bool> left_;             // by worker
  Array<float> values_;                // by slot; of a sparse tensor there is room for more
  Array<float> previous_{};
  Optimizer optimizer_;
  std::vector<Waiting> waiting_{};
  double loss_ = 0;  // of the newest update
  ShardStatistics statistics_{};
};

}  // namespace lp
