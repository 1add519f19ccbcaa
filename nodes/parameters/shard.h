#pragma once
// One tensor's part at one server: rows, optimizer, clocks, and the gradients that wait for their update. Its state is
// a function of the pushes in their order, so a replica that gets the same pushes has the same bits.
//
// Pure: no node, no time. Owned by a ParameterServer, whose turn is its lock.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lp/base/array.h"
#include "lp/checkpoint/checkpoint.h"
#include "nodes/parameters/bad_values.h"
#include "nodes/parameters/consistency.h"
#include "nodes/parameters/key_index.h"
#include "nodes/parameters/optimizer.h"
#include "nodes/parameters/parameter_messages.h"
#include "nodes/parameters/shard_values.h"
#include "nodes/parameters/sum_in_worker_order.h"

namespace lp {

struct ShardOptions {
  OptimizerRule rule = Sgd{};
  Consistency consistency = Synchronous{};
  std::uint32_t workers = 1;
  BadValues bad_values = BadValues::refuse;
  std::uint32_t width = 1;  // values of a row
};

// Counts of a shard's work.
struct ShardStatistics {
  static constexpr std::size_t kStaleness = 64;  // the last entry counts all that are older

  std::uint64_t updates = 0;
  std::uint64_t applied = 0;     // gradients
  std::uint64_t dropped = 0;     // gradients that came too late
  std::uint64_t duplicates = 0;  // pushes that were there already
  // applied gradients, by the number of updates since the parameters that they were computed from
  std::vector<std::uint64_t> staleness{};

  void add(const ShardStatistics& other);
  double mean_staleness() const;
};

class Shard {
 public:
  static constexpr std::size_t kMostWaiting = BoundedDelay::kMostAhead + 1;  // gradients of each worker

  // Dense: `values` are the rows of the index's keys. Sparse: `values` is empty; rows are 0 until they are pushed.
  // Error::failed when a number does not fit.
  // Values and optimizer are in the memory of the queue, which outlives the shard; without a queue, on the host.
  Shard(KeyIndex index, Array<float> values, const ShardOptions& options, kernels::Queue* queue = nullptr);

  // Takes a push, and does the updates that it completes. The push must have the list of keys, not only its hash.
  //
  // Error::overloaded when too many gradients wait for the slowest worker.
  // Error::failed, which names the worker, for refused values, for a size that does not fit, for keys that do not
  // ascend, and, in a dense tensor, for keys that are not here. After an error nothing has changed.
  PushOutcome push(const Push& push);

  // Whether a read at this clock of a worker may be answered now.
  bool readable(std::uint64_t clock) const;
  // Whether pushes of the worker before this clock are not here, because the server was restarted: a read at that clock
  // could wait for ever.
  bool lost_pushes(std::uint32_t worker, std::uint64_t clock) const;
  // The worker's clock after the push.
  std::uint64_t clock_after(const Stamp& stamp) const;
  // Error::failed for keys that do not ascend, and, in a dense tensor, for keys that are not here. Unknown keys of a
  // sparse tensor are 0.
  Reply read(const KeySet& keys) const;

  // The worker pushes no more: no update and no read waits for it, until it pushes again.
  void leave(std::uint32_t worker);

  std::uint64_t version() const { return progress_.version; }
  std::uint64_t clock(std::uint32_t worker) const;
  bool has_left(std::uint32_t worker) const { return worker < left_.size() && left_[worker]; }
  std::uint64_t slowest() const { return progress_.slowest; }
  bool all_left() const { return present_ == 0; }
  double loss() const { return loss_; }  // mean over the examples of the newest update
  const KeyIndex& index() const { return index_; }
  const Array<float>& values() const { return values_->values(); }  // dense: by key
  // Synchronous: the values of the version before; else empty
  const Array<float>& previous() const { return previous_; }
  const ShardStatistics& statistics() const { return statistics_; }

  // Gradients that wait for an update are not saved: their workers push them again. The workers that have left are not
  // saved either: after load() all are present, and a worker with nothing left to do leaves again. `name` is a prefix
  // of each entry's name.
  void save(Checkpoint& out, const std::string& name) const;
  // Error::failed when the saved state is of another size or of another kind of rule.
  void load(const Checkpoint& in, const std::string& name);

 private:
  std::vector<SlotRun> runs_of(const KeySet& keys, std::vector<std::uint32_t>& missing) const;
  Array<float> checked(const Push& push, std::size_t rows, kernels::Room<float>& there) const;
  void insert(const KeySet& keys, const std::vector<std::uint32_t>& missing);
  void update_while_complete();
  void apply(std::vector<WaitingGradient> gradients);
  std::uint32_t needed() const;
  void set_clock(std::uint32_t worker, std::uint64_t clock);
  void count_workers();

  KeyIndex index_;
  const ShardOptions options_;
  std::uint32_t present_;  // workers that have not left
  ShardProgress progress_{};
  std::vector<std::uint64_t> clocks_;    // by worker: the clock of its next push
  std::vector<bool> left_;               // by worker
  std::unique_ptr<ShardValues> values_;  // by slot; a sparse tensor reserves room for more
  Array<float> previous_{};
  std::vector<WaitingGradient> waiting_{};
  double loss_ = 0;  // mean over the examples of the newest update
  ShardStatistics statistics_{};
};

}  // namespace lp
