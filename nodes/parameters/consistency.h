#pragma once
// When a gradient changes the parameters, and how old the parameters that a worker reads may be: one small strategy for
// each consistency model. Pure functions of a shard's progress; the shard does the rest.
//
// A worker's clock counts its pushes: the first has clock 0, and a read at clock c precedes the push with clock c. The
// version of a shard counts its updates. A gradient belongs to a round: the version that it is to change. The update is
// done when `needed` gradients of the round are there. `needed` depends on the number of workers and on how many of
// them have not left.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <variant>

namespace lp {

inline constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

// The data about a push that decide what becomes of it.
struct Stamp {
  std::uint32_t worker = 0;
  std::uint64_t clock = 0;
  std::uint64_t version = 0;   // the version of the parameters that the gradient was computed from
  std::uint64_t previous = 0;  // the worker's clock after its previous push, which must be there; 0: it knows of none
};

// The progress of a shard.
struct ShardProgress {
  std::uint64_t version = 0;
  std::uint64_t slowest = 0;  // the lowest clock of a worker that has not left
};

// Synchronous replicas with backup workers, as in TensorFlow: an update takes the first workers − backups gradients
// that were computed from the present version, and a gradient from an older version is dropped (Chen et al.,
// "Revisiting distributed synchronous SGD", 2016). Reads wait for the update, so that all workers are released
// together.
struct Synchronous {
  std::uint32_t backups = 0;
  // The number of updates; later pushes are dropped, too. A worker sends one when it is behind at another server alone.
  std::uint64_t steps = kUnbounded;

  std::uint32_t needed(std::uint32_t workers, std::uint32_t present) const {
    // As many of the workers that have not left may have died unnoticed.
    return std::min(workers - std::min(workers, backups), present > backups ? present - backups : 1);
  }
  std::uint64_t round(const Stamp& push, const ShardProgress&) const { return push.version; }
  bool readable(std::uint64_t clock, const ShardProgress& at) const { return at.version >= clock; }
  float weight(std::uint64_t) const { return 1; }
};

// Each gradient is applied when it arrives (DistBelief's Downpour, TensorFlow's asynchronous replicas).
struct Asynchronous {
  std::uint32_t needed(std::uint32_t, std::uint32_t) const { return 1; }
  std::uint64_t round(const Stamp&, const ShardProgress& at) const { return at.version; }
  bool readable(std::uint64_t, const ShardProgress&) const { return true; }
  float weight(std::uint64_t) const { return 1; }
};

// Task t, which reads, computes and pushes, waits until all tasks older than t − delay are done. A delay of 0 is
// sequential; kUnbounded is eventual (Li et al., OSDI 2014, section 3.4), except for a bound on what servers must keep.
// The tasks t of all workers are one update.
struct BoundedDelay {
  static constexpr std::uint64_t kMostAhead = 1024;  // tasks: no delay is longer

  std::uint64_t delay = 0;

  std::uint32_t needed(std::uint32_t, std::uint32_t present) const { return present; }
  std::uint64_t round(const Stamp& push, const ShardProgress&) const { return push.clock; }
  bool readable(std::uint64_t clock, const ShardProgress& at) const {
    return clock - std::min(clock, at.version) <= std::min(delay, kMostAhead);
  }
  float weight(std::uint64_t) const { return 1; }
};

// Stale synchronous parallel: a read at clock c sees every update stamped ≤ c − staleness − 1 (Ho et al., NIPS 2013).
// Updates are applied when they arrive.
struct StaleSynchronous {
  std::uint64_t staleness = 0;

  std::uint32_t needed(std::uint32_t, std::uint32_t) const { return 1; }
  std::uint64_t round(const Stamp&, const ShardProgress& at) const { return at.version; }
  bool readable(std::uint64_t clock, const ShardProgress& at) const {
    return clock <= staleness || at.slowest >= clock - staleness;
  }
  float weight(std::uint64_t) const { return 1; }
};

// n-softsync: an update takes ⌊workers / splits⌋ gradients, from any workers (Gupta, Zhang and Wang, "Model accuracy
// and runtime tradeoff in distributed deep learning", ICDM 2016). Each is divided by its own staleness where that is
// above 1 (Zhang, Gupta, Lian and Liu, "Staleness-aware async-SGD", IJCAI 2016, equation 5).
struct Softsync {
  std::uint32_t splits = 1;

  // When all workers have left, the remaining gradients are updates, too.
  std::uint32_t needed(std::uint32_t workers, std::uint32_t present) const {
    return present == 0 ? 1 : splits == 0 ? 0 : workers / splits;
  }
  std::uint64_t round(const Stamp&, const ShardProgress& at) const { return at.version; }
  bool readable(std::uint64_t, const ShardProgress&) const { return true; }
  float weight(std::uint64_t staleness) const { return staleness > 1 ? 1.0F / static_cast<float>(staleness) : 1.0F; }
};

using Consistency = std::variant<Synchronous, Asynchronous, BoundedDelay, StaleSynchronous, Softsync>;

// Error::failed when an update would never be done: there are no workers, or it takes no gradients.
void check(const Consistency& consistency, std::uint32_t workers);

}  // namespace lp
