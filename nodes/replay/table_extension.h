#pragma once
// A program's own code at the events of a table, such as statistics of what is in it.
//
// Owned by its table, which calls it under its lock: it is short, waits for nothing, and calls no method of the table.
// When it throws, the caller gets its error. The change that it saw has been made; later ones of the same request are
// not.

#include <cstdint>

namespace lp::replay {

struct ItemView {
  std::uint64_t key = 0;
  double priority = 0;
  std::uint32_t times_sampled = 0;
  std::uint32_t steps = 0;
};

class Extension {
 public:
  virtual ~Extension() = default;

  virtual void on_insert(const ItemView&) {}
  virtual void on_sample(const ItemView&) {}
  virtual void on_update(const ItemView&) {}  // its priority has changed
  virtual void on_delete(const ItemView&) {}  // for whatever reason
};

}  // namespace lp::replay
