#pragma once
// A worker's copies of rows that servers hold, each with a clock c: the row has every update stamped before c. So a
// read at clock t under staleness s may be served from a row whose clock is at least max(0, t − s) (Ho et al., NIPS
// 2013, section 3; Wei et al., SoCC 2015).
//
// Owned by a worker; one thread at a time.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "lp/base/array.h"

namespace lp {

class RowCache {
 public:
  RowCache(std::uint32_t width, std::uint64_t staleness) : width_(width), staleness_(staleness) {}

  // Whether a row of this clock may be read at clock `now`.
  bool serves(std::uint64_t row_clock, std::uint64_t now) const {
    return row_clock >= (now > staleness_ ? now - staleness_ : 0);
  }
  // The keys, ascending, whose rows must be fetched for a read at clock `now`.
  Array<std::uint64_t> stale(const Array<std::uint64_t>& keys, std::uint64_t now);
  // Stores fetched rows, which have every update stamped before `clock`.
  void put(const Array<std::uint64_t>& keys, std::span<const float> rows, std::uint64_t clock);
  // Reads the rows of these keys, which must be here.
  void read(const Array<std::uint64_t>& keys, std::span<float> rows) const;
  // Adds this worker's own update, which it sees at once.
  void add(const Array<std::uint64_t>& keys, std::span<const float> changes);
  void clear();

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  struct Row {
    std::size_t at;  // where its values begin in values_
    std::uint64_t clock;
  };

  std::uint32_t width_;
  std::uint64_t staleness_;
  std::unordered_map<std::uint64_t, Row> rows_{};
  std::vector<float> values_{};
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace lp
