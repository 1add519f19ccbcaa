#pragma once
// Finds the replica of a group that is slower than the others. Pure functions.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace lp::tool {

// A replica has to be slow for so many seconds: in one or two, threads that share few processors differ by chance.
inline constexpr double kLastingSeconds = 4;

// How one node spends its time, as so many looks at it have shown.
struct Share {
  double works = 0;  // the share of the time in which its code goes on, so that it does not wait in lp
  double kept = 0;   // in which another node or a value keeps it
  double away = 0;   // in which it has nothing to do, sleeps by its own choice, or has no process
  double looks = 0;
  double queue = 0;  // calls that its handlers have not begun, on average
  double units = 0;  // calls to it and by it, per second
  double steps = 0;  // steps of its progress, per second

  double seconds = 0;                     // the time of these calls, and of the looks
  std::map<std::string, double> calls{};  // by it, by what they call
};

struct Straggler {
  std::string node{};
  double factor = 0;        // how much longer a unit of work takes it than the median of the others
  bool at_least = false;    // the others work too seldom for the looks to tell how much longer
  bool steps = false;       // a unit is a step; else a call
  std::size_t others = 0;   // in its group
  double works = 0;         // as in its Share
  double rate = 0;          // units per second; 0: it is slower by the time in which it works
  double others_rate = 0;   // the median
  bool waits_more = false;  // others may be the cause: it is no straggler for certain
  double kept = 0;          // as in its Share

  std::string text() const;  // a sentence
};

// The slowest of at least three replicas, if it is a straggler:
// - it makes at most half of the calls, or steps, per second of the median of the others, of the same nodes, in the
// time
//   in which they have something to do; and it waits for other nodes no longer than the others do.
// - else, its own code works at least twice as long for a step or a call, as in a program in which all replicas wait
//   for the slowest; this takes it a tenth of the time, and is more than chance, with so few looks.
// A replica that has done nothing is none: it is not slow, but stands.
std::optional<Straggler> straggler_of(std::span<const std::string> group, const std::map<std::string, Share>& shares);

}  // namespace lp::tool
