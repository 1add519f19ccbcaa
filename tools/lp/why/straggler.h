#pragma once
// Finds the replica of a group that is slower than the others. Pure functions.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace lp::tool {

// How one node spends its time.
struct Share {
  double works = 0;  // the share of the time in which its code goes on, so that it does not wait in lp
  double queue = 0;  // calls that its handlers have not begun, on average
  double units = 0;  // calls to it and by it, per second
  double steps = 0;  // steps of its progress, per second
};

struct Straggler {
  std::string node{};
  double factor = 0;       // how much longer a unit of work takes it than the median of the others
  bool steps = false;      // a unit is a step; else a call
  std::size_t others = 0;  // in its group
  double works = 0;        // as in its Share

  std::string text() const;  // a sentence
};

// The slowest of at least three replicas, if it is a straggler. Nothing when one of them has done nothing: it is not
// slow, but stands.
std::optional<Straggler> straggler_of(std::span<const std::string> group, const std::map<std::string, Share>& shares);

}  // namespace lp::tool
