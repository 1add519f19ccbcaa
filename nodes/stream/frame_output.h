#pragma once
// The records of a replica on their way to the replicas of another stage. They are sent in frames, and at most
// kFramesAhead frames to a receiver wait there: then writing waits, and so the slowest receiver slows its senders down.
//
// Owned by a replica of a stage; one thread.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "lp/rpc/clients.h"
#include "lp/rpc/core/future.h"
#include "nodes/dataflow/record_codec.h"
#include "nodes/stream/edge_counts.h"
#include "nodes/stream/frame.h"

namespace lp {

class StageNode;

namespace dataflow {

class FrameOutput {
 public:
  static constexpr std::size_t kFrameBytes = std::size_t{1} << 16;
  static constexpr std::size_t kFramesAhead = 8;

  FrameOutput(Clients<StageNode> to, std::uint32_t input, std::uint32_t sender, std::uint32_t life, EdgeCounts counts);

  std::uint32_t receivers() const { return static_cast<std::uint32_t>(ways_.size()); }
  template <class T>
  void write(std::uint32_t receiver, const T& record) {
    Way& way = ways_[receiver];
    write_record(way.records, record);
    if (way.records.size() >= kFrameBytes) [[unlikely]] {
      send(receiver, {});
    }
  }
  // Sends all records that wait, and then the mark, to every receiver.
  void mark(const Mark& mark);

  // Counts records. The bytes are those that take another way to the stage.
  void count(std::uint64_t records, std::uint64_t bytes = 0) {
    counts_.records += records;
    counts_.bytes += bytes;
  }
  // Calls f(keys, i) for a sample of so many next records, one in 64 at irregular distances: record number i is in it,
  // and its key is to be added.
  template <class F>
  void sample(std::size_t records, const F& f) {
    for (; until_sample_ < records; until_sample_ += distance()) f(counts_.keys, until_sample_);
    until_sample_ -= records;
  }

  // All that was sent, with what an earlier incarnation had sent when it was saved.
  const EdgeCounts& counts() const { return counts_; }
  void add(const EdgeCounts& before) { counts_.add(before); }

 private:
  struct Way {
    RecordWriter records{};
    std::uint64_t frames = 0;
    std::deque<Future<void>> ahead{};
  };
  void send(std::uint32_t receiver, const Mark& mark);
  std::size_t distance();

  const Clients<StageNode> to_;
  const std::uint32_t input_;
  const std::uint32_t sender_;
  const std::uint32_t life_;
  std::vector<Way> ways_;
  EdgeCounts counts_;
  std::uint64_t random_ = 0;
  std::size_t until_sample_ = 0;  // records
};

}  // namespace dataflow
}  // namespace lp
