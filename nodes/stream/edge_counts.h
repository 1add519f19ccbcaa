#pragma once
// What a replica of a stage has sent to another stage: for the drawing of a pipeline, and for the report on a key that
// has many of the records. Values.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lp::dataflow {

// The keys that have a large share of all that were added, in a fixed amount of memory (Misra and Gries: Finding
// repeated elements, 1982). A count is too small by at most 1 / (kCounters + 1) of what was added.
struct HeavyKeys {
  static constexpr std::size_t kCounters = 32;
  struct Counter {
    std::uint64_t hash = 0;
    std::string key{};  // for people
    std::uint64_t count = 0;
  };
  std::vector<Counter> counters{};
  std::uint64_t added = 0;

  // key() is called when the key has no counter yet.
  template <class F>
  void add(std::uint64_t hash, const F& key) {
    ++added;
    for (Counter& one : counters) {
      if (one.hash == hash) return static_cast<void>(++one.count);
    }
    if (counters.size() < kCounters) return counters.push_back({hash, key(), 1});
    for (Counter& one : counters) --one.count;
    std::erase_if(counters, [](const Counter& one) { return one.count == 0; });
  }
  // Adds those of another replica: the counters of both, however many.
  void add(const HeavyKeys& other);
};

struct EdgeCounts {
  std::string from{};  // groups
  std::string to{};
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  HeavyKeys keys{};  // a sample

  void add(const EdgeCounts& other);
};

// Names a key that has much more of an edge's records than others; empty: there is none.
std::string skew_of(const EdgeCounts& edge);

}  // namespace lp::dataflow
