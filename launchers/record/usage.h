#pragma once
// What the nodes of a run did and used over its whole time: usage.json in the run's directory, for lp report. It is
// gathered in looks, which are joined to intervals. When a record is full, each two of its intervals become one, so
// that a run of a week has no more of them than one of an hour. A value that to_json and from_json know, and pure
// functions, except earlier_usage().

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lp {

struct UsageRecord {
  // A node in an interval: at each look it is in one of four states.
  struct NodeUse {
    std::uint32_t works = 0;   // its code goes on: it computes, or is blocked outside lp
    std::uint32_t waits = 0;   // its run() or a handler waits in lp, and nothing else of it goes on
    std::uint32_t idle = 0;    // it serves, and has nothing to do
    std::uint32_t down = 0;    // it has no process that serves, or does not answer
    std::uint64_t queue = 0;   // the sum over the looks of the calls that wait for it
    double cpu = 0;            // processor seconds of its process, which its first node has
    std::uint64_t memory = 0;  // the most bytes of its process
    std::uint64_t step = 0;    // its progress at the end
  };
  // Where waits end. At a look, the chain of waits of each run() for which the program waits ends at one node; the look
  // is divided among these ends.
  struct End {
    std::string node{};
    std::string work{};  // "run()", "push()"; "is down", "sleeps", ...: it does nothing
    double looks = 0;
    double of_others = 0;  // the part of `looks` for run() of other nodes
  };
  struct Interval {
    double begin = 0;  // seconds since 1970
    double end = 0;
    std::uint32_t looks = 0;
    std::vector<NodeUse> nodes{};  // in the order of `nodes`
    std::vector<End> ends{};       // most looks first, at most kEnds
  };
  // All calls from one node to another.
  struct Edge {
    std::string caller{};  // empty: outside the program
    std::string callee{};
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;
    std::uint64_t bytes = 0;  // sent and received by calls that left the process
    double seconds = 0;       // the time that the calls took, about: it is known in powers of two, of one call in eight
    std::uint64_t timed = 0;  // the number of calls in `seconds`
  };
  // The node and the looks at which its run() waited for that other one, or for something else.
  struct Wait {
    std::string node{};
    std::string waits_for{};
    std::uint64_t looks = 0;
  };
  static constexpr std::size_t kEnds = 12;
  static constexpr std::size_t kEdges = 10'000;
  static constexpr std::size_t kWaits = 10'000;

  std::vector<std::string> nodes{};
  std::vector<Interval> intervals{};
  std::vector<Edge> edges{};
  std::vector<Wait> waits{};
  std::uint64_t left_out = 0;  // edges and waits that had no room
};

namespace launch {

inline constexpr const char* kUsageFile = "usage.json";

// The record of an earlier start of the run in this directory. Nothing: there is none, or it is damaged.
std::optional<UsageRecord> earlier_usage(const std::filesystem::path& directory);
// The number of intervals that a record of so many nodes may have: fewer for more nodes, so that it has a few MiB.
std::size_t most_intervals(std::size_t nodes);
// Adds what happened right after `into` to it.
void add_interval(UsageRecord::Interval& into, const UsageRecord::Interval& next);
// Joins each two of the intervals. A part of the looks, as those at which a node was down, stays the part of the time
// that it was: where something keeps the looks from their answers, a few of them take as long as many others.
void halve_intervals(UsageRecord& record);

}  // namespace launch
}  // namespace lp
