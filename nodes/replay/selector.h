#pragma once
// The choice of an item of a table: for a sample, or for its removal. The options are values; a Selector is the state
// that a table keeps for them. It knows the items by their slots, numbers from 0 that the table gives and uses again.
//
// Owned by a table, under its lock.

#include <cstdint>
#include <memory>
#include <variant>

#include "lp/base/random.h"

namespace lp::replay {

// Each item with the same probability.
struct Uniform {};

// An item with priority p has the probability p^exponent / Σ p^exponent (Schaul, Quan, Antonoglou and Silver, ICLR
// 2016, equation 1). An item of priority 0 is chosen only when all have 0; then each has the same probability. Other
// powers count as 1e-290 at least and as 1e290 at most.
struct Prioritized {
  double exponent = 1;
};

struct Fifo {};  // the item that was inserted first
struct Lifo {};  // the item that was inserted last

// The item of the smallest or largest priority; of several, the one that was inserted first.
struct MinHeap {};
struct MaxHeap {};

using SelectorOptions = std::variant<Uniform, Prioritized, Fifo, Lifo, MinHeap, MaxHeap>;

struct Selection {
  std::uint32_t slot = 0;
  double probability = 1;
};

class Selector {
 public:
  virtual ~Selector() = default;

  // Priorities are finite and not negative. A slot is inserted before it is updated or removed.
  virtual void insert(std::uint32_t slot, double priority) = 0;
  virtual void update(std::uint32_t slot, double priority) = 0;
  virtual void remove(std::uint32_t slot) = 0;
  // There must be an item.
  virtual Selection select(Random& random) = 0;
};

// Error::failed when an option does not fit: an exponent that is negative or no number.
std::unique_ptr<Selector> make_selector(const SelectorOptions& options);

}  // namespace lp::replay
