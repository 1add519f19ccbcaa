#include "nodes/stream/edge_counts.h"

#include <cmath>

namespace lp::dataflow {

void HeavyKeys::add(const HeavyKeys& other) {
  added += other.added;
  for (const Counter& one : other.counters) {
    const auto same = [&](const Counter& own) { return own.hash == one.hash; };
    const auto at = std::find_if(counters.begin(), counters.end(), same);
    if (at == counters.end()) {
      counters.push_back(one);
    } else {
      at->count += one.count;
    }
  }
}

void EdgeCounts::add(const EdgeCounts& other) {
  records += other.records;
  bytes += other.bytes;
  keys.add(other.keys);
}

std::string skew_of(const EdgeCounts& edge) {
  constexpr std::uint64_t kLeast = 1000;  // records: with fewer, it costs nothing
  constexpr double kShare = 0.4;          // a key with half of the records has this much of a sample at least
  if (edge.records < kLeast) return {};
  for (const HeavyKeys::Counter& one : edge.keys.counters) {
    const double share = static_cast<double>(one.count) / static_cast<double>(edge.keys.added);
    if (share < kShare) continue;
    return "the key " + one.key + " has about " + std::to_string(std::lround(share * 100)) + "% of the " +
           std::to_string(edge.records) + " records from " + edge.from + " to " + edge.to +
           ", and one replica takes them all: add them up before, with aggregate or WindowOptions::combine, split a " +
           "join, or make several keys of it";
  }
  return {};
}

}  // namespace lp::dataflow
